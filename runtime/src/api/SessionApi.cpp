// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime.h: sessions.
#include "runtime/src/api/Handles.h"

using namespace stator::runtime;

extern "C" {

stator_status stator_session_create(stator_model *model, const stator_session_options *options,
                                    stator_session **session, stator_error *error) {
  return guard(error, [&] {
    require(model, "model");
    require(session, "session");
    *session = nullptr;
    *session = new stator_session{Session(model->model, readOptions(options))};
  });
}

void stator_session_destroy(stator_session *session) { delete session; }

stator_status stator_session_run(stator_session *session, const stator_tensor *inputs, size_t input_count,
                                 stator_tensor *outputs, size_t output_count, stator_error *error) {
  return guard(error, [&] {
    require(session, "session");
    session->session.run(inputs, input_count, outputs, output_count);
  });
}

stator_status stator_session_output_shapes(stator_session *session, const stator_tensor *inputs, size_t input_count,
                                           stator_tensor *outputs, size_t output_count, stator_error *error) {
  return guard(error, [&] {
    require(session, "session");
    session->session.outputShapes(inputs, input_count, outputs, output_count);
  });
}

stator_status stator_session_read_state(stator_session *session, size_t index, stator_tensor *out,
                                        stator_error *error) {
  return guard(error, [&] {
    require(session, "session");
    require(out, "out");
    session->session.readState(index, *out);
  });
}

stator_status stator_session_write_state(stator_session *session, size_t index, const stator_tensor *in,
                                         stator_error *error) {
  return guard(error, [&] {
    require(session, "session");
    require(in, "in");
    session->session.writeState(index, *in);
  });
}

stator_status stator_session_reset_state(stator_session *session, stator_error *error) {
  return guard(error, [&] {
    require(session, "session");
    session->session.resetState();
  });
}

stator_status stator_session_memory(stator_session *session, const stator_tensor *inputs, size_t input_count,
                                    stator_memory_info *info, stator_error *error) {
  return guard(error, [&] {
    require(session, "session");
    require(info, "info");
    *info = session->session.memory(inputs, input_count);
  });
}

stator_status stator_session_profile(const stator_session *session, stator_profile_row *rows, size_t capacity,
                                     size_t *count, stator_error *error) {
  return guard(error, [&] {
    require(session, "session");
    require(count, "count");
    if (capacity != 0) require(rows, "rows");
    *count = session->session.profile(rows, capacity);
  });
}

const char *stator_session_device_name(const stator_session *session) {
  return session ? session->session.deviceName().c_str() : "";
}

} // extern "C"
