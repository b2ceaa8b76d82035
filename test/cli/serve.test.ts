import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PROGRAM, runPortreeve, SURROUNDINGS } from './command.ts'

let folder: string
let env: Record<string, string>
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-serve-'))
  env = {
    DATA_DIR: folder,
    PORT: String(await freePort()),
    SMTP_LISTEN: 'off',
  }
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  }
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Starts the service like a user, and waits until it reports that it is running. */
async function serve(): Promise<{ child: ChildProcess; said: () => string }> {
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: tmpdir(),
    env: { ...SURROUNDINGS, ...env },
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
  while (!output.includes('Portreeve is running')) {
    if (child.exitCode !== null) throw new Error(`it ended:\n${output}`)
    await sleep(20)
  }
  return { child, said: () => output }
}

const url = (path: string) => `http://localhost:${env['PORT']}${path}`

describe('portreeve serve', () => {
  it('creates its database, prints the setup link, and ends cleanly at the first signal', async () => {
    const { child, said } = await serve()
    expect(said()).toMatch(/Create first account: {4}http:\/\/localhost:\d+\/setup#\S{43}/)
    expect((await fetch(url('/readyz'))).status).toBe(200)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(said()).toContain('"stopped"')
  })

  it('restarts after kill -9 with the account that was created, and offers no setup', async () => {
    const { child, said } = await serve()
    const token = said().split('/setup#')[1]?.split(/\s/)[0]
    const account = { token, email: 'alice@example.com', password: 'a password of hers' }
    const headers = { 'content-type': 'application/json' }
    const made = await fetch(url('/api/v1/setup'), {
      method: 'POST',
      body: JSON.stringify(account),
      headers,
    })
    expect(made.status).toBe(201)
    child.kill('SIGKILL')
    await once(child, 'exit')

    const again = await serve()
    expect(again.said()).not.toContain('/setup#')
    const issued = await runPortreeve(['token', 'create', '--email', 'alice@example.com'], env)
    expect(issued).toMatchObject({ code: 0, out: expect.stringMatching(/^prv_\S+\n$/) })
    const who = await fetch(url('/api/v1/account'), {
      headers: { authorization: `Bearer ${issued.out.trim()}` },
    })
    expect(await who.json()).toMatchObject({
      data: { email: 'alice@example.com', plan: 'enterprise', admin: true },
    })
  })

  it('lets a request that runs finish before it ends', async () => {
    const { child } = await serve()
    const slow = fetch(url('/api/v1/setup'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      duplex: 'half',
      body: ReadableStream.from(
        slowly(['{"token":"x","email":', '"a@example.com","password":"long enough"}']),
      ),
    })
    await sleep(150)
    child.kill('SIGTERM')
    expect((await slow).status).toBe(403)
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('names every setting that is wrong, and starts nothing', async () => {
    const { code, err } = await runPortreeve(['serve'], { ...env, PORT: '99999', SIGNUP: 'maybe' })
    expect([code, err]).toEqual([2, expect.stringMatching(/PORT .*SIGNUP /)])
  })

  it('reports a port in use, and leaves no database running', async () => {
    const { child } = await serve()
    const second = await runPortreeve(['serve'], { ...env, DATA_DIR: join(folder, 'other') })
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringMatching(new RegExp(`port ${env['PORT']}`, 'i')),
    })
    expect(child.exitCode).toBeNull()
  })
})

describe('portreeve doctor', () => {
  it('reports healthy and failing parts, before and while the service runs', async () => {
    const broken = { ...env, DNS_SERVERS: '127.0.0.1:1', SMTP_URL: 'smtp://127.0.0.1:1' }
    const before = await runPortreeve(['doctor'], broken)
    expect(before.out).toMatch(/database.*will be created at the first start/)
    expect(before.out).toMatch(/✗ DNS/)
    expect(before.out).toMatch(/✗ mail.*Check SMTP_URL/)
    expect(before.code).toBe(1)
    await serve()
    const meanwhile = await runPortreeve(['doctor', '--json'], broken)
    const findings: { about: string; state: string; sentence: string }[] = JSON.parse(
      meanwhile.out,
    ).data
    expect(findings).toContainEqual(expect.objectContaining({ about: 'database', state: 'good' }))
    expect(findings).toContainEqual({
      about: `port ${env['PORT']}`,
      state: 'good',
      sentence: 'In use by a running service.',
    })
  })
})

async function* slowly(parts: string[]) {
  for (const part of parts) {
    yield Buffer.from(part)
    await sleep(600)
  }
}
