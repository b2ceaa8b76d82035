import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { raiseResolved } from '../../../src/alerts/raise.ts'
import { escalateDue } from '../../../src/alerts/rules/escalation/escalate.ts'
import { until } from '../module.ts'
import { startRules, type RulesTest } from './rules-test.ts'

type Channel = Awaited<ReturnType<RulesTest['addChannel']>>

let test: RulesTest
let chat: Channel
let pager: Channel
let children: ChildProcess[]

beforeEach(async () => {
  test = await startRules()
  chat = await test.addChannel('discord')
  pager = await test.addChannel('pagerduty')
  children = []
})
afterEach(async () => {
  await Promise.all(children.map(kill))
  await test.stop()
})

async function startChild(): Promise<ChildProcess> {
  const script = new URL('instance.child.ts', import.meta.url).pathname
  const origins = JSON.stringify([...test.origins])
  const child = spawn(process.execPath, [script, test.database.url, origins], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  await once(child.stdout, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

const escalating = (repeats = 0) =>
  test.create({
    channels: [chat.id],
    escalation: { steps: [{ afterMinutes: 15, channels: [pager.id] }], repeats },
  })

const raise = (name = 'mail.example.com') => test.first.raise(test.alice.id, name)

/** Makes the next step of every incident due, as time would. */
const passTime = () =>
  test.first.db
    .updateTable('alertIncident')
    .set({ escalatesAt: sql<Date>`now()` })
    .where('escalatesAt', 'is not', null)
    .execute()

const incident = () =>
  test.first.db.selectFrom('alertIncident').selectAll().executeTakeFirstOrThrow()

const escalated = async () => {
  const rows = await test.first.db
    .selectFrom('alertMessageContent')
    .select('escalatedMinutes')
    .where('escalatedMinutes', 'is not', null)
    .execute()
  return rows.length
}

const sentToPager = async () => {
  const rows = await test.first.db
    .selectFrom('alertMessage')
    .select('id')
    .where('channelId', '=', pager.id)
    .where('state', '=', 'sent')
    .execute()
  return rows.length
}

const escalateNow = (now = Date.now()) =>
  escalateDue(
    { db: test.first.db, log: test.first.log, clock: () => now },
    new AbortController().signal,
  )

describe('an incident without acknowledgement', () => {
  it('goes to the channels of each step once, with instances that are killed', async () => {
    const [killed] = [await startChild(), await startChild()]
    await escalating(1)
    await raise()
    await until(
      () => chat.service.shown,
      (all) => all.length === 1,
    )
    expect(pager.service.shown).toEqual([])
    const { escalatesAt } = await incident()
    expect(escalatesAt!.getTime() - Date.now()).toBeGreaterThan(14 * 60_000)
    await passTime()
    await kill(killed)
    await until(
      () => pager.service.shown,
      (all) => all.length === 1,
      20,
    )
    expect(pager.service.shown[0]).toMatch(/Not acknowledged: mail\.example\.com is listed/)
    // An instance killed before it records the answer keeps its claim for a while.
    await until(sentToPager, (count) => count === 1, 20)
    // Due while no instance runs, and taken by one that starts later.
    await Promise.all(children.map(kill))
    await passTime()
    await startChild()
    await until(
      () => pager.service.shown,
      (all) => all.length === 2,
      20,
    )
    expect(await incident()).toMatchObject({ escalatesAt: null, escalationStep: 2 })
    expect(await escalated()).toBe(2)
    expect(pager.service.violations).toEqual([])
  }, 60_000)

  it('is escalated once by instances that look at the same moment', async () => {
    await escalating()
    for (let count = 0; count < 20; count++) await raise(`host${count}.example.com`)
    await passTime()
    const counts = await Promise.all(Array.from({ length: 4 }, () => escalateNow()))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20)
    expect(await escalated()).toBe(20)
  })

  it('keeps its time when it changes, and gets the time of another rule', async () => {
    await escalating()
    await raise()
    const before = await incident()
    await test.first.raise(test.alice.id, 'mail.example.com', { key: 'again' })
    expect((await incident()).escalatesAt).toEqual(before.escalatesAt)
    const urgent = await test.create({
      minSeverity: 'critical',
      channels: [pager.id],
      escalation: { steps: [{ afterMinutes: 1, channels: [chat.id] }] },
    })
    const { json } = await test.list()
    const ids = json.data.map(({ id }) => id).toReversed()
    await test.first.call(test.alice.token, 'PUT', 'alerts/rules/order', { ids })
    const worse = { key: 'worse', severity: 'critical' as const }
    await test.first.raise(test.alice.id, 'mail.example.com', worse)
    const after = await incident()
    expect(after.ruleId).toBe(urgent.json.data.id)
    expect(after.escalatesAt!.getTime()).toBeLessThan(Date.now() + 61_000)
  })

  it('does not delay those of other workspaces', async () => {
    await escalating()
    for (let count = 0; count < 60; count++) await raise(`host${count}.example.com`)
    const bob = await test.first.addPerson('Bob')
    const body = { type: 'webhook', url: 'http://127.0.0.1:9/bob' }
    const made = await test.first.call<{ id: string }>(bob.token, 'POST', 'alerts/channels', body)
    const channels = [made.json.data.id]
    await test.create(
      { channels, escalation: { steps: [{ afterMinutes: 5, channels }] } },
      bob.token,
    )
    await test.first.raise(bob.id, 'bob.example.com')
    await passTime()
    await escalateNow()
    const late = await test.first.db
      .selectFrom('alertIncident')
      .select('workspaceId')
      .where('escalatesAt', 'is not', null)
      .execute()
    expect(late).toHaveLength(11)
    expect(late.map(({ workspaceId }) => workspaceId)).not.toContain(bob.id)
  })
})

describe('an incident', () => {
  it('whose acknowledgement is taken back is escalated from its next alert on', async () => {
    await escalating()
    await raise()
    const { db } = test.first
    await db.updateTable('alertIncident').set({ acknowledgedAt: new Date() }).execute()
    await passTime()
    await escalateNow()
    expect((await incident()).escalatesAt).toBe(null)
    await test.first.raise(test.alice.id, 'mail.example.com', { key: 'still acknowledged' })
    expect((await incident()).escalatesAt).toBe(null)
    await db.updateTable('alertIncident').set({ acknowledgedAt: null }).execute()
    await test.first.raise(test.alice.id, 'mail.example.com', { key: 'worse' })
    expect((await incident()).escalatesAt).not.toBe(null)
  })

  it('that ended or was acknowledged is not escalated', async () => {
    await escalating()
    for (const name of ['a', 'b']) await raise(name)
    const { db } = test.first
    await raiseResolved(db, {
      workspaceId: test.alice.id,
      kind: 'blacklist.cleared',
      key: 'a cleared',
      incident: 'blacklist/a',
      title: 'a is off the list',
      text: '',
      nextStep: '',
      path: '/alerts',
      at: new Date(),
    })
    const acknowledged = { acknowledgedAt: new Date() }
    await db
      .updateTable('alertIncident')
      .set(acknowledged)
      .where('key', '=', 'blacklist/b')
      .execute()
    await passTime()
    expect(await escalateNow()).toBe(2)
    expect(await escalated()).toBe(0)
    expect(await escalateNow()).toBe(0)
  })

  it('that is snoozed waits, and is escalated when the snooze is over', async () => {
    await escalating()
    await raise()
    const snoozedUntil = new Date(Date.now() + 3_600_000)
    await test.first.db.updateTable('alertIncident').set({ snoozedUntil }).execute()
    await passTime()
    await escalateNow()
    const { escalatesAt } = await incident()
    expect(escalatesAt!.getTime()).toBe(snoozedUntil.getTime() + 15 * 60_000)
    await test.first.db.updateTable('alertIncident').set({ snoozedUntil: null }).execute()
    await passTime()
    await escalateNow()
    expect(await escalated()).toBe(1)
  })

  it('is not escalated after its rule was deleted or turned off', async () => {
    const { json } = await escalating()
    await raise('a')
    await test.change(json.data.id, { enabled: false })
    await passTime()
    await escalateNow()
    await test.change(json.data.id, { enabled: true })
    await raise('b')
    await test.first.call(test.alice.token, 'DELETE', `alerts/rules/${json.data.id}`)
    await passTime()
    await escalateNow()
    expect(await escalated()).toBe(0)
  })
})
