#include "tests/compute/data/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string_view>

namespace lab::test {
namespace {

void send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string read_request(int connection) {
  std::string request;
  char buffer[4096];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    request.append(buffer, static_cast<std::size_t>(got));
  }
  return request;
}

std::string header_value(const std::string& request, const std::string& name) {
  const std::size_t at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const std::size_t start = at + name.size() + 4;
  return request.substr(start, request.find("\r\n", start) - start);
}

}  // namespace

HttpServer::HttpServer() {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (socket_ < 0 || ::bind(socket_, generic, size) != 0 || ::listen(socket_, 8) != 0 ||
      ::getsockname(socket_, generic, &size) != 0) {
    throw std::runtime_error("no server on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](std::stop_token stop) { serve(std::move(stop)); });
}

HttpServer::~HttpServer() {
  thread_.request_stop();
  thread_.join();
  ::close(socket_);
}

void HttpServer::put(const std::string& path, Page page) {
  const std::lock_guard lock(mutex_);
  pages_[path] = std::move(page);
}

std::string HttpServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<std::string> HttpServer::ranges() const {
  const std::lock_guard lock(mutex_);
  return ranges_;
}

void HttpServer::serve(std::stop_token stop) {
  while (!stop.stop_requested()) {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, 20) <= 0) continue;
    const int connection = ::accept(socket_, nullptr, nullptr);
    if (connection < 0) continue;
    answer(connection, stop);
    ::close(connection);
  }
}

void HttpServer::answer(int connection, std::stop_token stop) {
  const std::string request = read_request(connection);
  const std::size_t path_at = request.find(' ') + 1;
  const std::string path = request.substr(path_at, request.find(' ', path_at) - path_at);
  const std::string range = header_value(request, "Range");
  Page page{.body = "nothing here", .status = 404, .location = {}};
  {
    const std::lock_guard lock(mutex_);
    ranges_.push_back(range);
    if (const auto found = pages_.find(path); found != pages_.end()) {
      page = found->second;
      found->second.break_after_bytes = -1;
    }
  }
  std::string head, body = page.body;
  if (page.status == 200 && page.ranges && range.rfind("bytes=", 0) == 0) {
    const std::size_t from = std::stoul(range.substr(6));
    if (from >= body.size()) {
      page.status = 416;
      body.clear();
    } else {
      head = "Content-Range: bytes " + std::to_string(from) + "-" +
             std::to_string(body.size() - 1) + "/" + std::to_string(body.size()) + "\r\n";
      body.erase(0, from);
      page.status = 206;
    }
  }
  if (!page.location.empty()) head += "Location: " + page.location + "\r\n";
  send_all(connection, "HTTP/1.1 " + std::to_string(page.status) +
                           " x\r\nContent-Length: " + std::to_string(body.size()) +
                           "\r\nConnection: close\r\n" + head + "\r\n");
  while (page.stall && !stop.stop_requested()) {
    pollfd gone{connection, POLLIN, 0};
    if (::poll(&gone, 1, 20) != 0) return;
  }
  if (page.break_after_bytes >= 0) body.resize(static_cast<std::size_t>(page.break_after_bytes));
  send_all(connection, body);
}

}  // namespace lab::test
