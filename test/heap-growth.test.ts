import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Replaces 200,000 objects in turn, which outlive the young generation, and prints the growth. */
const REPLACE_OBJECTS = `
  import { getHeapStatistics } from 'node:v8'
  import { limitHeapGrowth } from '${new URL('../src/heap-growth.ts', import.meta.url).href}'
  limitHeapGrowth()
  const objectOf = (n) => [n, n, n, n, n, n, n, n, n, n]
  const objects = Array.from({ length: 200_000 }, (_, n) => objectOf(n))
  gc()
  const bytes = () => getHeapStatistics().used_heap_size
  const inUse = bytes()
  let most = 0
  for (let n = 0; n < 4 * objects.length; n++) {
    objects[n % objects.length] = objectOf(n)
    if (n % 1_000 > 0) continue
    most = Math.max(most, bytes())
    await new Promise((resolve) => setImmediate(resolve))
  }
  console.log(most / inUse)
`

it('collects garbage before the heap is three times the objects in use', async () => {
  const args = ['--expose-gc', '--input-type=module', '-e', REPLACE_OBJECTS]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  // V8 alone lets it grow to four times.
  expect(Number(stdout)).toBeGreaterThan(1)
  expect(Number(stdout)).toBeLessThan(3)
})
