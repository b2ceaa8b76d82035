import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from '../../src/version.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'

const run = promisify(execFile)
const TOKEN = `ar_${'Qw7'.repeat(10)}pp`

let service: Receiver
let folder: string
beforeAll(async () => {
  service = await startReceiver(status(200))
  folder = mkdtempSync(join(tmpdir(), 'portreeve-clients-'))
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`)
})
afterAll(async () => {
  await service?.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  service.received.length = 0
})

/** A ready file with the URL of the receiver and a token file of its own. */
function installed(name: string): string {
  const text = readFileSync(join(ROOT, 'clients', name), 'utf8')
    .replaceAll('https://reports.example.com', service.origin)
    .replace('/etc/portreeve-client/token', join(folder, 'token'))
  const path = join(folder, name.split('/').at(-1) ?? '')
  writeFileSync(path, text, { mode: 0o755 })
  return path
}

const bodies = () => service.received.map(({ body }) => JSON.parse(body) as object)

describe('the report script for CSF', () => {
  it('reports attacks by their trigger, with its token, and nothing else', async () => {
    const script = installed('csf/portreeve-csf')
    const block = (ip: string, trigger: string) =>
      run(script, [ip, '*', '1', 'inout', '0', 'a message', 'log lines', trigger])
    await block('8.8.4.4', 'LF_SSHD')
    await block('2a00:1450::1', 'LF_IMAPD')
    await block('8.8.4.4', 'LF_CSF')
    await block('8.8.4.4', '')
    await block('8.8.4.4"; id', 'LF_SSHD')
    expect(bodies()).toEqual([
      { ip: '8.8.4.4', service: 'ssh' },
      { ip: '2a00:1450::1', service: 'imap' },
      { ip: '8.8.4.4', service: 'other' },
    ])
    expect(service.received[0]?.headers['x-report-token']).toBe(TOKEN)
  })
})

describe('the integration for Wazuh', () => {
  it('reports the source of an alert, and ignores alerts without one', async () => {
    const script = installed('wazuh/custom-portreeve')
    const send = (alert: object) => {
      writeFileSync(join(folder, 'alert.json'), JSON.stringify(alert))
      return run('python3', [script, join(folder, 'alert.json'), TOKEN, service.origin])
    }
    await send({ data: { srcip: '8.8.4.4' }, rule: { groups: ['syslog', 'sshd'], frequency: 8 } })
    await send({ data: {}, rule: { groups: ['sshd'] } })
    expect(bodies()).toEqual([{ ip: '8.8.4.4', service: 'ssh', count: 8 }])
    for (const data of [
      { win: { eventdata: { ipAddress: '8.8.4.5' } } },
      { srcip: '-', src_ip: '[2001:4860::5]' },
      { aws: { sourceIPAddress: 'ec2.amazonaws.com' }, source_ip: '8.8.4.6' },
      { win: 'text', srcip: 'LOCAL' },
    ])
      await send({ data, rule: { groups: ['windows'] } })
    expect(bodies().slice(1)).toEqual(
      ['8.8.4.5', '2001:4860::5', '8.8.4.6'].map((ip) => ({ ip, service: 'rdp', count: 1 })),
    )
    await run('python3', [script, join(folder, 'alert.json'), TOKEN, `${service.origin}/`])
    expect(service.received[0]?.headers['x-report-token']).toBe(TOKEN)
  })
})
