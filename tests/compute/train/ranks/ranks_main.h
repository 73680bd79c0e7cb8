#pragma once
// The session shared by all cases of a program started by mpirun.
#include "compute/train/ranks/rank_session.h"

namespace lab::test {

RankSession& session();
inline RankGroup& ranks() {
  return session().ranks();
}

}  // namespace lab::test
