import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiFunction, examplesIn } from '../shell.ts'
import { startWebhooks, type WebhooksTest } from './module.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const examples = (page: string) => examplesIn(readFileSync(join(ROOT, 'docs', page), 'utf8'))

let portreeve: WebhooksTest
let folder: string
beforeAll(async () => {
  portreeve = await startWebhooks()
  folder = mkdtempSync(join(tmpdir(), 'portreeve-docs-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await portreeve.stop()
})

describe('docs/webhooks.md, webhook-responses.md and webhook-rules.md', () => {
  it('have examples with the documented results, in order', async () => {
    const { portreeve: service, alice } = portreeve
    const pages = examples('webhooks.md')
    // The last example deletes the endpoint.
    const script = [
      apiFunction(service.url, alice.token),
      ...pages.slice(0, -1),
      ...examples('webhook-responses.md'),
      ...examples('webhook-rules.md'),
      ...pages.slice(-1),
    ]
    const env = { PATH: process.env['PATH'] }
    const { stdout } = await promisify(execFile)(
      '/bin/bash',
      ['--norc', '-eu', '-c', script.join('\n')],
      {
        cwd: folder,
        env,
        timeout: 60_000,
      },
    )

    expect(stdout).toContain('["PUT","/orders/1"]\n["PUT","/orders/1"]\n')
    expect(readFileSync(join(folder, 'body.bin'), 'utf8')).toBe('{"order": 1}')
    expect(JSON.parse(readFileSync(join(folder, 'shop.har'), 'utf8'))).toMatchObject({
      log: { version: '1.2' },
    })
    expect(stdout).toContain('HTTP/1.1 202 Accepted')
    expect(stdout).toContain('{"challenge": "3eZbrw1a"}')
    expect(stdout.match(/"status":"valid"/g)).toHaveLength(6)
    expect(stdout.match(/"status":"(?!valid)/g)).toBeNull()
    expect(stdout).toContain('{"ok": true}503\n503\n200\n{"success":true,"reset":1}\n')
    expect(stdout).toMatch(/\{"success":true,"deleted":\d+\}\{"success":true\}$/)
  }, 90_000)
})
