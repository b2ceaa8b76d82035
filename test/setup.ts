// Runs before each test file. What it imports is loaded once per worker: a wrapper that each file
// added to the one before would check every response a hundred times.
import { afterEach } from 'vitest'
/* oxlint-disable import/no-unassigned-import -- they change what all tests use */
import './answers.ts'
import './patience.ts'
import { describeFailedPages } from './failed-pages.ts'

afterEach(describeFailedPages)
