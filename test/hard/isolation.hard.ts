import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aggregate, mailWith } from '../dmarc/reports.ts'
import { CODE_MAIL_LIMITS } from '../../src/alerts/limits.ts'
import { freePort } from '../free-port.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { swaks } from '../servers/swaks.ts'
import { figure } from './figures.ts'
import { ATTACKS, startAttack, startAttacker, type Attacker } from './hostile/account.ts'
import { countsOf, NOTHING, startLoad } from './load.ts'
import { startMoving } from './moving.ts'
import { startPlace, type Place } from './place.ts'
import { seenText, watch } from './watch.ts'

/** Milliseconds that a request of another account may take during an attack. */
const MAX_WAIT_MS = 1_000

/**
 * Megabytes by which the service may grow: the memory limits of SECURITY.md, and room for the
 * garbage collector.
 */
const MAX_GROWTH_MB = 450

/** Milliseconds for which each attack goes on. */
const ATTACK_MS = 10_000

let place: Place
let attacker: Attacker
let reportEmail: string
let smtpPort: number
let sink: Sink

beforeAll(async () => {
  smtpPort = await freePort()
  sink = await startSink()
  place = await startPlace({
    SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
    REPORT_DOMAIN: 'reports.portreeve.test',
    REQUEST_LIMITS: 'on',
    SMTP_URL: sink.url,
  })
  attacker = await startAttacker(place, smtpPort)
  const domain = await place.api('/api/v1/dmarc/domains', 'POST', { domain: 'honest.test' })
  reportEmail = ((await domain.json()) as { data: { reportEmail: string } }).data.reportEmail
})
afterAll(async () => {
  await place.stop()
  await sink.stop()
})

/** Paths that honest clients read, besides the load. */
const READ = [
  '/api/v1/account',
  '/api/v1/dmarc/domains',
  '/api/v1/monitoring/hosts',
  '/api/webhook/endpoints',
]

const slowestText = (slowest: Record<string, number>) =>
  Object.entries(slowest)
    .map(([kind, milliseconds]) => `${kind} ${Math.round(milliseconds)} ms`)
    .join(', ')

describe('one account against all others', () => {
  let series = 0
  it.each(Object.keys(ATTACKS))(
    'that %s delays no other request, and nothing is lost',
    async (what) => {
      const load = await startLoad(place, {
        // Of the 100 that a workspace can have, over all attacks.
        endpoints: 4,
        pause: 40,
        connections: { captures: 3, reports: 2 },
        series: `beside-${(series += 1)}`,
      })
      const watching = READ.map((path) => watch(place, path))
      const attack = await startAttack(what, attacker)
      let delivered
      let seen
      try {
        await sleep(ATTACK_MS)
        const mail = mailWith({
          attachment: aggregate({ id: `beside ${what}`, domain: 'honest.test' }),
        })
        delivered = await swaks(smtpPort, reportEmail, mail)
        seen = await Promise.all(watching.map((one) => one.stop()))
      } finally {
        await attack.stop()
        await load.stop()
      }
      const worst = seen.toSorted((a, b) => b.slowest - a.slowest)[0]
      if (!worst) throw new Error('nothing was watched')
      figure(
        `one account ${what}`,
        `${seenText(worst)}; slowest acknowledged: ${slowestText(load.slowest())}; ` +
          `nothing lost of ${countsOf(load.acknowledged)}`,
      )
      expect(await load.missing()).toEqual(NOTHING)
      expect(load.others()).toEqual({})
      expect(delivered).toMatchObject({ code: 0 })
      expect(worst.slowest).toBeLessThan(MAX_WAIT_MS)
      expect(Math.max(...Object.values(load.slowest()))).toBeLessThan(MAX_WAIT_MS)
      expect(worst.most - worst.before).toBeLessThan(MAX_GROWTH_MB)
    },
  )

  it.each([
    'migrates from servers that never answer',
    'migrates from servers that never answer, in sixty workspaces',
  ])('that %s lets an honest migration through in its turn', async (what) => {
    const moving = await startMoving(100, 0)
    const attack = await startAttack(what, attacker)
    try {
      const begun = performance.now()
      const id = await moving.begin(place)
      const { queue } = (await (await place.api(`/api/v1/imap/migrate/${id}`)).json()) as {
        queue: { position: number } | null
      }
      // Behind those that run and, where none of them has returned its slot yet, one turn.
      expect(queue?.position ?? 0).toBeLessThanOrEqual(2)
      await moving.isWhole(place, id)
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
      figure(`one account ${what}`, `an honest migration is completed after ${seconds} s`)
    } finally {
      await attack.stop()
      await moving.stop()
    }
  })

  it('that names strangers as recipients in sixty workspaces sends few emails, and leaves those of others', async () => {
    const toStrangers = () =>
      sink.mails.filter(({ to }) => to?.[0]?.address?.endsWith('@strangers.test')).length
    const what = 'names strangers as recipients of alerts in sixty workspaces'
    const attack = await startAttack(what, attacker)
    try {
      await sleep(ATTACK_MS)
      const address = 'colleague@honest.test'
      const answer = await place.api('/api/v1/alerts/channels', 'POST', { type: 'email', address })
      expect(answer.status, await answer.text()).toBe(201)
      await expect
        .poll(() => sink.mails.some(({ to }) => to?.[0]?.address === address), { timeout: 10_000 })
        .toBe(true)
    } finally {
      await attack.stop()
    }
    figure(`one account ${what}`, `${toStrangers()} emails to strangers`)
    expect(toStrangers()).toBeLessThanOrEqual(CODE_MAIL_LIMITS.sender.count)
  })
})
