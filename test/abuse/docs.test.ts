import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, describe, it } from 'vitest'
import { ROOT } from '../../src/version.ts'
import { startTestService, type TestService } from '../service.ts'

const run = promisify(execFile)

/** Lists the commands of the page, each with the response below it. */
const text = readFileSync(join(ROOT, 'docs', 'attack-reporting.md'), 'utf8')
const examples = [...text.matchAll(/```sh\n(.*?)```(?:\n\n```json\n(.*?)```)?/gs)].map(
  ([, command = '', answer]) => ({
    command,
    answer,
  }),
)

let portreeve: TestService
let env: Record<string, string>
/** Some commands write files. */
const cwd = mkdtempSync(join(tmpdir(), 'portreeve-docs-'))
beforeAll(async () => {
  portreeve = await startTestService()
  const [alice, bob] = [
    await portreeve.addPerson('Alice', { admin: true }),
    await portreeve.addPerson('Bob'),
  ]
  env = {
    PATH: '/usr/bin:/bin',
    URL: portreeve.url,
    ADMIN_TOKEN: alice.token,
    PORTREEVE_TOKEN: bob.token,
    EMAIL: alice.email,
    PASSWORD: alice.password,
  }
})
afterAll(async () => {
  await portreeve?.stop()
  rmSync(cwd, { recursive: true })
})

describe('docs/attack-reporting.md', () => {
  it('has commands that work unchanged, and responses as shown', { timeout: 90_000 }, async () => {
    expect(examples.length).toBeGreaterThan(14)
    for (const { command, answer } of examples) {
      if (command.startsWith('URL=')) continue
      const { stdout, stderr } = await run('sh', ['-ec', command], { env, cwd, timeout: 20_000 })
      expect([command, stderr]).toEqual([command, ''])
      if (answer)
        expect([command, shapeOf(JSON.parse(stdout))]).toEqual([
          command,
          shapeOf(JSON.parse(answer)),
        ])
    }
  })

  it('responds 304 where nothing has changed', { timeout: 30_000 }, async () => {
    const { command = '' } =
      examples.find((example) => example.command.includes('--etag-save')) ?? {}
    expect((await run('sh', ['-ec', command], { env, cwd, timeout: 20_000 })).stdout).toBe('304\n')
  })
})

/** Replaces times, and pseudonyms, which differ in each run. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\dT\d\d:/.test(value) ? 'a moment' : value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    key === 'reporter' ? typeof one : shapeOf(one),
  ])
  return Object.fromEntries(entries)
}
