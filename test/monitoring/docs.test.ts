import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { until } from '../alerts/module.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { enabled, IP, startLists } from '../servers/blacklists.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { examplesIn, startShell } from '../shell.ts'
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

it('does what docs/monitoring.md says: first check, listing alert, delisting, removal alert', async () => {
  const url = portreeve.app.listeningOrigin
  const blocks = examplesIn(readFileSync('docs/monitoring.md', 'utf8'))
  const [functions, watch, baseline, check, told, delist, retry, cleared] = blocks as [
    string,
    ...string[],
  ]
  const shell = startShell({ PORTREEVE_TOKEN: portreeve.owner().token })
  const run = (block: string | undefined) =>
    shell.run((block ?? 'false').replace('http://localhost:8080', url))
  const mailed = (count: number) =>
    until(
      () => sink.mails,
      (mails) => mails.length >= count,
      20,
    )

  await run(functions)
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

  expect(await run(delist)).toContain('SpamCop SCBL: ')
  await until(
    () => run('call GET "delisting/$DELISTING" | jq -r ".data.steps[].status"'),
    (status) => status === 'waiting\n',
  )
  await lists.setZones({ [SPAMCOP]: {} })
  expect(await run(retry)).toBe('completed\n')
  await mailed(2)
  expect(await run(cleared)).toBe(
    `completed\nResolved: ${IP} (outgoing mail) was removed from SpamCop SCBL\n`,
  )
  // What is raised after the next check would come by now.
  await portreeve.checked(host ?? { id: '' }, 2)
  expect(sink.mails.map(({ subject }) => subject)).toEqual([
    `${IP} (outgoing mail) is listed on SpamCop SCBL`,
    `Resolved: ${IP} (outgoing mail) was removed from SpamCop SCBL`,
  ])
  expect(blocks.length).toBe(9)
  await shell.end()
}, 90_000)
