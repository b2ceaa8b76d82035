import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, describe, it } from 'vitest'
import { ROOT } from '../../src/version.ts'
import { startTestService, type TestService } from '../service.ts'
import { apiFunction } from '../shell.ts'

const run = promisify(execFile)

/** The commands of both pages, each with the response below it. */
const text = ['attack-reporting.md', 'blocklist.md']
  .map((page) => readFileSync(join(ROOT, 'docs', page), 'utf8'))
  .join('\n')
const examples = [...text.matchAll(/```sh\n(.*?)```(?:\n\n```json\n(.*?)```)?/gs)].map(
  ([, command = '', answer]) => ({ command, answer }),
)

let portreeve: TestService
let functions: string
const env = { PATH: '/usr/bin:/bin' }
/** Some commands write files. */
const cwd = mkdtempSync(join(tmpdir(), 'portreeve-docs-'))
beforeAll(async () => {
  portreeve = await startTestService()
  const alice = await portreeve.addPerson('Alice', { admin: true })
  functions = apiFunction(portreeve.url, alice.token)
})
afterAll(async () => {
  await portreeve?.stop()
  rmSync(cwd, { recursive: true })
})

describe('docs/attack-reporting.md and docs/blocklist.md', () => {
  it('have commands that work unchanged, and responses as shown', { timeout: 90_000 }, async () => {
    expect(examples.length).toBeGreaterThan(12)
    for (const { command, answer } of examples) {
      const { stdout, stderr } = await runExample(command)
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
    expect((await runExample(command)).stdout).toBe('304\n')
  })
})

const runExample = (command: string) =>
  run('bash', ['--norc', '-ec', `${functions}\n${command}`], { env, cwd, timeout: 20_000 })

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
