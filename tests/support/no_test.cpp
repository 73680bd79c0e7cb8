// Empty source file to which precompiled headers belong.
int main() {
  return 0;
}
