// The source that precompiled headers must belong to.
int main() {
  return 0;
}
