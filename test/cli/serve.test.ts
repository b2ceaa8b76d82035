import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { PROGRAM, runInProcess, runPortreeve, SURROUNDINGS } from './command.ts'

type Service = { child: ChildProcess; said: () => string }

let folder: string
let env: Record<string, string>
let service: Service | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-serve-'))
  env = {
    DATA_DIR: join(folder, 'data'),
    PORT: String(await freePort()),
    SMTP_LISTEN: 'off',
  }
})
afterAll(async () => {
  const child = service?.child
  if (child && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
})

/** Starts the service like a user, and waits until it reports that it is running. */
async function serve(): Promise<Service> {
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: tmpdir(),
    env: { ...SURROUNDINGS, ...env },
  })
  let output = ''
  service = { child, said: () => output }
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        output += bytes.toString()
        if (output.includes('Portreeve is running')) resolve()
      })
    child.once('close', () => reject(new Error(`it ended:\n${output}`)))
  })
  return service
}

const url = (path: string) => `http://localhost:${env['PORT']}${path}`
/** Settings with two parts that do not work. */
const broken = () => ({ ...env, DNS_SERVERS: '127.0.0.1:1', SMTP_URL: 'smtp://127.0.0.1:1' })

describe('portreeve before the first start', () => {
  it('doctor reports failing parts, and creates nothing', async () => {
    const { out, code } = await runPortreeve(['doctor'], broken())
    expect(out).toMatch(/database.*will be created at the first start/)
    expect(out).toMatch(/✗ DNS/)
    expect(out).toMatch(/✗ mail.*Check SMTP_URL/)
    expect(code).toBe(1)
  })

  it('serve names every setting that is wrong, and starts nothing', async () => {
    const { code, err } = await runPortreeve(['serve'], { ...env, PORT: '99999', SIGNUP: 'maybe' })
    expect([code, err]).toEqual([2, expect.stringMatching(/PORT .*SIGNUP /)])
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })
})

// One service with one database goes through them in this order.
describe('portreeve serve', () => {
  it('creates its database, and prints the setup link', async () => {
    const { said } = await serve()
    expect(said()).toMatch(/Create first account: {4}http:\/\/localhost:\d+\/setup#\S{43}/)
    expect((await fetch(url('/readyz'))).status).toBe(200)
  })

  it('is known to doctor while it runs', async () => {
    const { out } = await runInProcess(['doctor', '--json'], broken())
    const findings: { about: string; state: string; sentence: string }[] = JSON.parse(out).data
    expect(findings).toContainEqual(expect.objectContaining({ about: 'database', state: 'good' }))
    expect(findings).toContainEqual({
      about: `port ${env['PORT']}`,
      state: 'good',
      sentence: `In use by this service (process ${service?.child.pid}).`,
    })
    expect(findings).toContainEqual({
      about: 'BASE_URL',
      state: 'good',
      sentence: `http://localhost:${env['PORT']} responds.`,
    })
    const elsewhere = { ...broken(), BASE_URL: 'http://127.0.0.1:1' }
    const { out: unreachable } = await runInProcess(['doctor', '--json'], elsewhere)
    expect(JSON.parse(unreachable).data).toContainEqual({
      about: 'BASE_URL',
      state: 'doubtful',
      sentence: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 cannot be reached .*the proxy\.$/),
    })
  })

  it('reports a port in use, and leaves no database running', async () => {
    const second = await runPortreeve(['serve'], { ...env, DATA_DIR: join(folder, 'other') })
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringMatching(new RegExp(`port ${env['PORT']}`, 'i')),
    })
    expect(existsSync(join(folder, 'other', 'postgres'))).toBe(false)
    expect(service?.child.exitCode).toBeNull()
  })

  it.each(['SMTP_LISTEN', 'METRICS_LISTEN'])('reports a port of %s in use', async (setting) => {
    const other = { ...env, DATA_DIR: join(folder, 'other'), PORT: String(await freePort()) }
    const { code, err } = await runPortreeve(['serve'], {
      ...other,
      [setting]: `127.0.0.1:${env['PORT']}`,
    })
    const sentence = `Error: Cannot listen on 127.0.0.1 port ${env['PORT']}: the port is in use. `
    expect([code, err]).toEqual([1, expect.stringContaining(`${sentence}Stop the other program`)])
    expect(err).toMatch(new RegExp(`Try: ${setting}=.*\\n$`))
  })

  it('keeps its database from a restore, also while the folder is moved away', async () => {
    const postgres = join(folder, 'data', 'postgres')
    renameSync(postgres, `${postgres}.away`)
    const restored = await runInProcess(['restore', join(folder, 'none.backup')], env)
    renameSync(`${postgres}.away`, postgres)
    expect(restored).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Error: Another Portreeve is using .*postgres\. Stop it first/),
    })
    expect((await fetch(url('/readyz'))).status).toBe(200)
  })

  it('restarts after kill -9 with the account that was created, and offers no setup', async () => {
    const { child, said } = service as Service
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
    const issued = await runInProcess(['token', 'create', '--email', 'alice@example.com'], env)
    expect(issued).toMatchObject({ code: 0, out: expect.stringMatching(/^prv_\S+\n$/) })
    const who = await fetch(url('/api/v1/account'), {
      headers: { authorization: `Bearer ${issued.out.trim()}` },
    })
    expect(await who.json()).toMatchObject({
      data: { email: 'alice@example.com', plan: 'enterprise', admin: true },
    })
  })

  it('lets a request that runs finish before it ends, at the first signal', async () => {
    const { child, said } = service as Service
    const slow = request(url('/api/v1/setup'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', expect: '100-continue' },
      agent: false,
    })
    const answered = once(slow, 'response')
    // The service has read the head of the request when it asks for the body.
    const isRunning = once(slow, 'continue')
    slow.write('{"token":"x","email":')
    await isRunning
    child.kill('SIGTERM')
    await expect.poll(() => fetch(url('/healthz')).catch(() => null)).toBeNull()
    slow.end('"a@example.com","password":"long enough"}')
    const [{ statusCode }] = await answered
    expect(statusCode).toBe(403)
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(said()).toContain('"stopped"')
  })

  it('stops as cleanly at SIGHUP', async () => {
    const { child, said } = await serve()
    child.kill('SIGHUP')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(said()).toContain('"stopped"')
  })
})
