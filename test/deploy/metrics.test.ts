import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { addBackupReadings, createMetrics } from '../../src/http/metrics/metrics.ts'
import { openDatabase } from '../../src/store/database.ts'
import { aggregate } from '../dmarc/reports.ts'
import { startTestService, type TestService } from '../service.ts'
import { freePort } from '../free-port.ts'

let portreeve: TestService
let address: string

beforeAll(async () => {
  const port = await freePort()
  portreeve = await startTestService({
    MAX_DATABASE_BYTES: '1000000000000',
    WEBHOOK_FORWARDING: 'all',
    METRICS_LISTEN: `127.0.0.1:${port}`,
    DNS_SERVERS: '127.0.0.1:1',
  })
  address = `http://127.0.0.1:${port}`
})
afterAll(() => portreeve.stop())

const scrape = async () => (await fetch(`${address}/metrics`)).text()

/** The value of the series with this name and labels; 0 if missing. */
async function valueOf(series: string): Promise<number> {
  const line = (await scrape()).split('\n').find((text) => text.startsWith(`${series} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

const report = (ip: string) =>
  portreeve.request('/api/v1/abuse/report', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ip, service: 'ssh' }),
  })

describe('the metrics', () => {
  it('count requests by the pattern of their route, never by their address', async () => {
    const alice = await portreeve.addPerson('Alice')
    for (let i = 0; i < 3; i++) await portreeve.request('/api/v1/account', alice)
    await portreeve.request('/api/v1/tokens/019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42', {
      method: 'DELETE',
      token: alice.token,
    })
    const count = 'portreeve_http_request_duration_seconds_count'
    expect(await valueOf(`${count}{method="GET",route="/api/v1/account",status="200"}`)).toBe(3)
    expect(await valueOf(`${count}{method="DELETE",route="/api/v1/tokens/:id",status="404"}`)).toBe(
      1,
    )
    expect(await scrape()).not.toContain('019a9d2e')
  })

  it('count captures, attack reports and DNS queries by outcome', async () => {
    const { token } = await portreeve.addPerson('Hannah')
    const made = await portreeve.request('/api/webhook/endpoints', {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    const { endpoint } = (await made.json()) as { endpoint: { id: string; token: string } }
    for (let i = 0; i < 4; i++)
      await portreeve.request(`/webhooks/${endpoint.token}`, { method: 'POST', body: 'x' })
    expect(await valueOf('portreeve_captures_total{outcome="stored"}')).toBe(4)

    const added = await portreeve.request(`/api/webhook/endpoints/${endpoint.id}/destinations`, {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://receiver.invalid/hooks' }),
    })
    expect(added.status).toBe(201)
    await portreeve.request(`/webhooks/${endpoint.token}`, { method: 'POST', body: 'x' })
    await expect
      .poll(scrape, { timeout: 60_000 })
      .toMatch(/^portreeve_forwarding_attempts_total\{outcome="[^"]+"\} 1$/m)
    // It is tried again later.
    expect(await valueOf('portreeve_forwarding_deliveries{state="waiting"}')).toBe(1)
    expect(await valueOf('portreeve_forwarding_deliveries{state="held"}')).toBe(0)
    expect(await valueOf('portreeve_forwarding_oldest_seconds{state="waiting"}')).toBeGreaterThan(0)

    await report('8.8.4.4')
    await report('8.8.4.4')
    expect(await valueOf('portreeve_attack_reports_total{outcome="accepted"}')).toBe(1)
    expect(await valueOf('portreeve_attack_reports_total{outcome="deduped"}')).toBe(1)

    await portreeve.request('/api/v1/dns-check?domain=example.com', { token })
    const asked = [
      ...(await scrape()).matchAll(
        /^portreeve_dns_queries_total\{resolver="dns",outcome="(\w+)"\} (\d+)/gm,
      ),
    ]
    expect(asked.reduce((sum, [, , count]) => sum + Number(count), 0)).toBeGreaterThan(3)
    // Nobody listens there, which a busy machine may notice too late.
    expect(['NETWORK', 'TIMEOUT']).toEqual(
      expect.arrayContaining(asked.map(([, outcome]) => outcome)),
    )
  })

  it('count reports, host checks and alerts by outcome', async () => {
    const { id, token } = await portreeve.addPerson('Rita')
    const upload = {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/octet-stream' },
    }
    await portreeve.request('/api/v1/dmarc/reports', { ...upload, body: 'no report at all' })
    await portreeve.request('/api/v1/dmarc/reports', {
      ...upload,
      body: aggregate({ domain: 'nobody.example' }),
    })
    expect(await valueOf('portreeve_dmarc_reports_total{via="upload",outcome="unread"}')).toBe(1)
    expect(await valueOf('portreeve_dmarc_reports_total{via="upload",outcome="foreign"}')).toBe(1)

    const json = { method: 'POST', token, headers: { 'content-type': 'application/json' } }
    const added = await portreeve.request('/api/v1/monitoring/hosts', {
      ...json,
      body: '{"host":"8.8.4.4"}',
    })
    const host = ((await added.json()) as { data: { id: string } }).data
    await portreeve.request(`/api/v1/monitoring/hosts/${host.id}/check`, { method: 'POST', token })
    expect(await valueOf('portreeve_looks_total{status="unknown"}')).toBeGreaterThan(0)

    const channel = JSON.stringify({ type: 'webhook', url: 'http://127.0.0.1:1/' })
    expect(
      (await portreeve.request('/api/v1/alerts/channels', { ...json, body: channel })).status,
    ).toBe(201)
    const { db, close } = openDatabase(portreeve.databaseUrl)
    const words = {
      title: 'A host is listed',
      text: 'By one list.',
      nextStep: 'Ask for removal.',
      path: '/monitoring',
    }
    await raiseAlert(db, {
      workspaceId: id,
      kind: 'blacklist.listed',
      incident: null,
      phase: 'once',
      severity: 'info',
      key: 'one',
      ...words,
      at: new Date(),
    })
    await close()
    const failed = () => valueOf('portreeve_alerts_total{channel="webhook",outcome="failed"}')
    await expect.poll(failed).toBeGreaterThan(0)
  })

  it('cover the database, the queues and the event loop', async () => {
    const text = await scrape()
    expect(text).toContain('portreeve_database_up 1')
    expect(text).toMatch(/portreeve_database_connections\{state="idle"\} [1-9]/)
    expect(text).toContain('portreeve_migrations_running 0')
    expect(text).toContain('portreeve_jobs{queue="monitoring.sweep",state="ready"}')
    expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds \d/)
  })

  it('pass promtool check metrics without a word', async () => {
    const checked = spawnSync('/usr/bin/promtool', ['check', 'metrics'], {
      input: await scrape(),
      encoding: 'utf8',
    })
    expect(checked).toMatchObject({ status: 0, stdout: '', stderr: '' })
  })

  it('have an address of their own, with the health of an instance that serves nothing else', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect((await fetch(address + path)).status).toBe(200)
    expect((await fetch(`${address}/api/v1/account`)).status).toBe(404)
    expect((await portreeve.request('/metrics')).status).toBe(404)
  })

  it('fail with a clear error where the port is in use', async () => {
    await expect(
      startTestService({ METRICS_LISTEN: address.slice('http://'.length) }),
    ).rejects.toThrow(/METRICS_LISTEN/)
  })
})

describe('the dashboard, the alert rules and the documentation', () => {
  const named = (file: string) =>
    new Set(
      [...readFileSync(file, 'utf8').matchAll(/\b(?:portreeve|nodejs|process)_[a-z0-9_]+/g)].map(
        ([name]) => name,
      ),
    )
  const inScrape = async () =>
    new Set(
      [...(await scrape()).concat(await backupMetrics()).matchAll(/^([a-z0-9_]+)[{ ]/gm)].map(
        ([, name]) => name,
      ),
    )
  /** Only an installation with BACKUP_ARCHIVE, and so with an embedded database, has them. */
  const backupMetrics = () => {
    const metrics = createMetrics('0')
    const at = new Date().toISOString()
    addBackupReadings(metrics, () => ({
      archive: '/backups',
      chain: null,
      archivedUntil: at,
      pendingBytes: 0,
      baseAt: at,
      baseBytes: 0,
      failingSince: null,
      problem: null,
      at,
    }))
    return metrics.registry.metrics()
  }

  it.each([
    'deploy/grafana/portreeve.json',
    'deploy/prometheus/portreeve.rules.yaml',
    'docs/metrics.md',
  ])('%s names only what there is', async (file) => {
    const served = [...(await inScrape())].join(' ')
    const missing = [...named(file)].filter(
      (name) => !served.includes(name) && !/^(nodejs|process)_$/.test(name),
    )
    expect(missing).toEqual([])
  })

  it('documents every metric', async () => {
    const documented = named('docs/metrics.md')
    const ours = [...(await scrape()).matchAll(/^# TYPE (portreeve_\w+)/gm)].map(([, name]) => name)
    expect(ours.filter((name) => !documented.has(name as string))).toEqual([])
    expect(ours).toHaveLength(20)
  })

  it('has rules that Prometheus accepts, and that fire as intended', () => {
    const promtool = (...args: string[]) =>
      execFileSync('/usr/bin/promtool', args, { encoding: 'utf8', stdio: 'pipe' })
    for (const file of globSync('deploy/prometheus/*.rules.yaml'))
      expect(promtool('check', 'rules', file)).toContain('SUCCESS')
    expect(promtool('test', 'rules', 'deploy/prometheus/portreeve.rules.test.yaml')).toContain(
      'SUCCESS',
    )
  })
})
