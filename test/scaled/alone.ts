import { it, type TestAPI } from 'vitest'
import { isScaled } from './instances.ts'

/**
 * A test that has a meaning for one instance only, or that reaches into the process: not run
 * against several.
 * @param reason why
 */
export function itAlone(reason: string): TestAPI {
  if (reason === '') throw new Error('say why')
  return it.skipIf(isScaled) as TestAPI
}
