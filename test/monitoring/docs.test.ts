import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { until } from '../alerts/module.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { enabled, IP, startLists } from '../servers/blacklists.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { apiFunction, examplesIn, startShell } from '../shell.ts'
import { startMonitoring, type MonitoringTest } from './module.ts'

const SPAMCOP = 'bl.spamcop.net'

let lists: Rbldnsd
let dns: DnsServer
let sink: Sink
let database: FreshDatabase
let portreeve: MonitoringTest
beforeEach(async () => {
  ;[lists, dns, sink, database] = await Promise.all([
    startLists(),
    startDns(),
    startSink(),
    freshDatabase(),
  ])
  portreeve = await startMonitoring(database.url, { lists, dns, smtpUrl: sink.url })
})
afterEach(async () => {
  await portreeve.stop()
  await Promise.all([lists.stop(), dns.close(), sink.stop(), database.drop()])
})

it('does what docs/monitoring.md says: first check, listing alert, removal alert', async () => {
  const url = portreeve.app.listeningOrigin
  const [watch, baseline, check, told, ...others] = examplesIn(
    readFileSync('docs/monitoring.md', 'utf8'),
  )
  expect(others).toEqual([])
  const shell = startShell({})
  const run = (block = 'false') => shell.run(block)
  const mailed = (count: number) =>
    until(
      () => sink.mails,
      (mails) => mails.length >= count,
      20,
    )

  await run(apiFunction(url, portreeve.owner().token))
  await run(watch)
  const [host] = (await portreeve.call<{ id: string }[]>('GET', 'hosts')).json.data
  await portreeve.seen(
    host ?? { id: '' },
    ({ status, unknownCount }) => status === 'clean' && unknownCount === 0,
  )
  expect(JSON.parse(await run(baseline))).toEqual({
    status: 'clean',
    totalChecked: enabled.length,
    listedCount: 0,
    unknownCount: 0,
    listings: [],
  })

  await lists.setZones({ [SPAMCOP]: { listed: { [IP]: '127.0.0.2 Spam seen at a trap' } } })
  expect(await run(check)).toContain(SPAMCOP)
  await mailed(1)
  const history = await run(told)
  expect(history).toContain('"to": "listed"')
  expect(history).toContain('Reason given by the list: “Spam seen at a trap”')
  expect(sink.mails[0]?.text).toContain('start delisting 8.8.4.4')

  await lists.setZones({ [SPAMCOP]: {} })
  // Until a second check confirms it, the listing is `clearing`.
  await until(
    () => run(check),
    (listings) => !listings.includes(SPAMCOP),
  )
  await mailed(2)
  // What is raised after the next check would come by now.
  await portreeve.checked(host ?? { id: '' }, 2)
  expect(sink.mails.map(({ subject }) => subject)).toEqual([
    `${IP} (outgoing mail) is listed on SpamCop SCBL`,
    `Resolved: ${IP} (outgoing mail) was removed from SpamCop SCBL`,
  ])
  await shell.end()
}, 90_000)
