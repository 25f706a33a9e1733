#pragma once
typedef unsigned int GLuint;
typedef unsigned int GLenum;
