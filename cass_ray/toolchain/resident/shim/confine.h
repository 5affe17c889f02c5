/* What a job of a resident tool may reach, which is a fork of that.
 *
 * A job that takes over its process, through a fault in the tool, reaches no other job where the
 * kernel has Landlock: it may read what lies outside of RESIDENT, write its own folder and /tmp,
 * and signal and trace nobody.
 */
#ifndef CASS_CONFINE_H
#define CASS_CONFINE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE 4096
#define START_FAILURE 126
#define RESIDENT "/cass/resident"

/* As <linux/landlock.h> has them, which older systems have not. */
#define LANDLOCK_CREATE 444
#define LANDLOCK_ADD 445
#define LANDLOCK_RESTRICT 446
#define LANDLOCK_VERSION 1U
#define LANDLOCK_BENEATH 1
#define LANDLOCK_READ 13ULL          /* execute, read files, read folders */
#define LANDLOCK_WRITE 2ULL          /* files that are there */
#define LANDLOCK_ALL ((1ULL << 13) - 1)
#define LANDLOCK_SCOPES 3ULL         /* abstract sockets, signals */

static void allow(int rules, const char *path, unsigned long long access) {
  struct __attribute__((packed)) {
    unsigned long long access;
    int folder;
  } beneath = {access, open(path, O_PATH | O_CLOEXEC)};
  if (beneath.folder < 0) return; /* a link that leads nowhere */
  struct stat status;
  if (fstat(beneath.folder, &status) != 0) _exit(START_FAILURE);
  if (!S_ISDIR(status.st_mode)) beneath.access &= LANDLOCK_WRITE | 5ULL;
  if (syscall(LANDLOCK_ADD, rules, LANDLOCK_BENEATH, &beneath, 0U) != 0) _exit(START_FAILURE);
  close(beneath.folder);
}

/* All that `folder` holds, but for what is the jobs' and what leads there. */
static void allow_entries(int rules, const char *folder) {
  DIR *entries = opendir(folder);
  if (!entries) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    char path[LINE];
    snprintf(path, sizeof path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, entry->d_name);
    if (entry->d_name[0] == '.' || strcmp(path, RESIDENT) == 0) continue;
    if (strcmp(path, "/cass") == 0)
      allow_entries(rules, path);
    else if (strcmp(path, "/tmp") == 0)
      allow(rules, path, LANDLOCK_ALL); /* for what LLVM writes when it crashes; no job reads it */
    else
      allow(rules, path, LANDLOCK_READ | (strcmp(path, "/dev") == 0 ? LANDLOCK_WRITE : 0));
  }
  closedir(entries);
}

/* In the child, in the job's folder: nothing of other jobs from here on. */
static void confine(void) {
  struct {
    unsigned long long files, network, scopes;
  } handled = {LANDLOCK_ALL, 0, LANDLOCK_SCOPES};
  long version = syscall(LANDLOCK_CREATE, NULL, (size_t)0, LANDLOCK_VERSION);
  if (version < 1) return;
  size_t size = version >= 6 ? sizeof handled : sizeof handled.files;
  int rules = (int)syscall(LANDLOCK_CREATE, &handled, size, 0U);
  if (rules < 0) _exit(START_FAILURE);
  allow_entries(rules, "/");
  allow(rules, ".", LANDLOCK_ALL);
  if (syscall(LANDLOCK_RESTRICT, rules, 0U) != 0) _exit(START_FAILURE);
  close(rules);
}

#endif
