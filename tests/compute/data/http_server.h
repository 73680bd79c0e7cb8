#pragma once
// HTTP server on 127.0.0.1 for tests: serves bytes, resumes, drops connections, redirects.
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace lab::test {

class HttpServer {
 public:
  struct Page {
    std::string body;
    int status = 200;
    std::string location;                 // for status 302
    bool ranges = true;                   // supports Range requests
    std::int64_t break_after_bytes = -1;  // closes the connection there, once; -1: never
    bool stall = false;                   // sends nothing after the headers
  };

  HttpServer();
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void put(const std::string& path, Page page);
  std::string url(const std::string& path = "/") const;
  // Range headers received, oldest first; "" for a request without one.
  std::vector<std::string> ranges() const;

 private:
  void serve(std::stop_token stop);
  void answer(int connection, std::stop_token stop);

  int socket_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, Page> pages_;
  std::vector<std::string> ranges_;
  std::jthread thread_;
};

}  // namespace lab::test
