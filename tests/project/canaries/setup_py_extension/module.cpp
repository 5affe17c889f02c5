#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <exception>
#include <iostream>
#include "matches.h"
static PyObject* count_all(PyObject*, PyObject* arguments) {
  const char *text, *part;
  if (!PyArg_ParseTuple(arguments, "ss", &text, &part)) return nullptr;
  try {
    return PyLong_FromLong(count(text, part, nullptr));
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    PyErr_SetString(PyExc_ValueError, error.what());
    return nullptr;
  }
}
static PyMethodDef methods[] = {{"count", count_all, METH_VARARGS, ""}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "matches", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_matches() { return PyModule_Create(&definition); }
