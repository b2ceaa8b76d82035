import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService, type Person } from '../service.ts'

const run = promisify(execFile)
const PLACE = 'test/openapi-client'

let portreeve: TestService
let alice: Person
let folder: string
beforeAll(async () => {
  portreeve = await startTestService({ DNS_SERVERS: '127.0.0.1:1' })
  alice = await portreeve.addPerson('Alice')
  // Within the package of its tools, so that its imports are found.
  folder = mkdtempSync(join(PLACE, 'generated-'))
  copyFileSync(join(PLACE, 'minimal-calls.ts'), join(folder, 'minimal-calls.ts'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await portreeve.stop()
})

async function signIn(): Promise<string> {
  const { email, password } = alice
  const response = await portreeve.request('/api/auth/sign-in/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

const MODERN = ['--target', 'es2024', '--allowImportingTsExtensions', '--types', 'node']

/** What the compiler says about a program; nothing if it is valid. */
async function compile(options: string[], file: string, module = 'nodenext'): Promise<string> {
  const compiler = ['node_modules/typescript/bin/tsc', '--ignoreConfig', ...MODERN]
  const args = [...compiler, '--module', module, '--noEmit', ...options, file]
  const { stdout } = await run(process.execPath, args).catch((error: { stdout: string }) => error)
  return stdout
}

describe('a client generated from openapi.json', () => {
  it('compiles when a generator writes a class for each tag', async () => {
    const generator = fileURLToPath(import.meta.resolve('openapi-typescript-codegen/bin/index.js'))
    const written = join(folder, 'classes')
    await run(process.execPath, [generator, '--input', 'openapi.json', '--output', written])
    const options = ['--strict', '--moduleResolution', 'bundler', '--lib', 'es2024,dom']
    expect(await compile(options, join(written, 'index.ts'), 'esnext')).toBe('')
  }, 60_000)

  it('compiles under strict, and makes the calls of the specification', async () => {
    const generator = join(PLACE, 'node_modules/openapi-typescript/bin/cli.js')
    await run(process.execPath, [generator, 'openapi.json', '-o', join(folder, 'schema.ts')])
    const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes']
    expect(await compile(strict, join(folder, 'minimal-calls.ts'))).toBe('')

    const program = [join(folder, 'minimal-calls.ts'), portreeve.url, alice.token, await signIn()]
    const { stdout } = await run(process.execPath, program)
    const { statuses, ...seen } = JSON.parse(stdout) as { statuses: Record<string, number> }
    // No DNS or mail server responds here: the response must report that, not a missing field.
    const odd = Object.entries(statuses).filter(([, status]) => status >= 300)
    expect(odd.filter(([, status]) => status === 400 || status === 401 || status === 404)).toEqual([
      ['blacklist', 400],
      ['migration', 404],
      ['reports', 404],
    ])
    expect(Object.keys(statuses)).toHaveLength(29)
    expect(seen).toMatchObject({
      score: expect.any(Number),
      pages: 0,
      headerNames: expect.any(Array),
    })
    expect(seen).toMatchObject({ failure: { success: false, code: 'invalid_request' } })
  }, 120_000)
})
