import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWebhooks, type WebhooksTest } from './module.ts'

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'webhooks.md')

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

describe('docs/webhooks.md', () => {
  it('has examples with the documented results, in order', async () => {
    const page = readFileSync(PAGE, 'utf8')
    const script = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block).join('')
    const words = ['-eu', '-c', script.replaceAll('http://localhost:8080', portreeve.portreeve.url)]
    const env = { PATH: process.env['PATH'], PORTREEVE_TOKEN: portreeve.alice.token }
    const { stdout } = await promisify(execFile)('/bin/bash', words, {
      cwd: folder,
      env,
      timeout: 60_000,
    })

    expect(stdout).toContain('["PUT","/orders/1"]\n["PUT","/orders/1"]\n')
    expect(readFileSync(join(folder, 'body.bin'), 'utf8')).toBe('{"order": 1}')
    expect(JSON.parse(readFileSync(join(folder, 'shop.har'), 'utf8'))).toMatchObject({
      log: { version: '1.2' },
    })
    expect(stdout).toContain('HTTP/1.1 202 Accepted')
    expect(stdout).toContain('{"challenge": "3eZbrw1a"}')
    expect(stdout.match(/"status":"valid"/g)).toHaveLength(6)
    expect(stdout.match(/"status":"(?!valid)/g)).toBeNull()
    expect(stdout).toMatch(/\{"success":true,"deleted":\d+\}\{"success":true\}$/)
  }, 90_000)
})
