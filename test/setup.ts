// Runs before each test file. What it imports is loaded once per worker: a wrapper that each file
// added to the one before would check every response a hundred times.
/* oxlint-disable import/no-unassigned-import -- they change what all tests use */
import './answers.ts'
import './patience.ts'
