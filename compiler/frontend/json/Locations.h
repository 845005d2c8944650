// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an op comes from: "model.py:12" or "model.py:12:4" as text, null for nowhere, or a row of the document's table
// `locations`, in which a row refers to earlier rows by number.
#ifndef STATOR_COMPILER_FRONTEND_JSON_LOCATIONS_H
#define STATOR_COMPILER_FRONTEND_JSON_LOCATIONS_H

#include "compiler/frontend/json/Attributes.h"

namespace stator::graph_json {

class LocationReader {
public:
  /// `document` names the file: an op without a location is located at its line there.
  LocationReader(mlir::MLIRContext *context, const std::string &document) : context(context), document(document) {}
  void readTable(const Node &list);
  /// The member `location` of the object.
  mlir::Location of(const Node &object, const char *key = "location") const;

private:
  struct Row {
    mlir::LocationAttr location;
    int depth;
  };
  Row read(const Node &node) const;
  Row readRow(const Node &row) const;

  mlir::MLIRContext *context;
  const std::string &document;
  std::vector<Row> rows;
};

class LocationWriter {
public:
  explicit LocationWriter(WeightsWriter &weights) : weights(weights) {}
  Written write(mlir::Location location);
  const Written &table() const { return rows; }

private:
  WeightsWriter &weights;
  Written rows = Written::array();
  llvm::DenseMap<mlir::Attribute, size_t> known;
};

} // namespace stator::graph_json

#endif // STATOR_COMPILER_FRONTEND_JSON_LOCATIONS_H
