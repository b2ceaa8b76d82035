// Lets `vi.waitFor` wait as long as `expect.poll`: its default of a second fails on a busy machine.
import { vi } from 'vitest'

const PATIENCE_MS = 60_000

const { waitFor } = vi
vi.waitFor = (check, options = PATIENCE_MS) => waitFor(check, options)
