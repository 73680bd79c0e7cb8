#pragma once
// A web server on 127.0.0.1 for tests: serves bytes, resumes, breaks off, redirects.
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
    bool ranges = true;                   // answers Range requests
    std::int64_t break_after_bytes = -1;  // closes the connection then, once
    bool stall = false;                   // sends nothing behind the headers
  };

  HttpServer();
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void put(const std::string& path, Page page);
  std::string url(const std::string& path = "/") const;
  // The Range headers seen, "" where a request had none, oldest first.
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
