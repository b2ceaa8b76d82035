import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { startBreakingRelay } from './breaking-relay.ts'
import {
  aWhile,
  LINK,
  startAlerts,
  until,
  type Person,
  type AlertsTest,
  type AlertsTestOptions,
} from './module.ts'

type Shown = {
  alerts: { title: string; deliveries: { type: string; status: string; error: string | null }[] }[]
  mail: boolean
}

let database: FreshDatabase
let sink: Sink
let instances: AlertsTest[] = []
let alice: Person

beforeAll(async () => {
  database = await freshDatabase()
  sink = await startSink()
})
afterAll(async () => {
  await sink.stop()
  await database.drop()
})
beforeEach(async () => {
  sink.mails.length = 0
  sink.behaviour = 'taking'
})
afterEach(async () => {
  for (const portreeve of instances.splice(0)) await portreeve.stop()
  await removeEverybody(database.db)
})

async function start(options: AlertsTestOptions = {}): Promise<AlertsTest> {
  const portreeve = await startAlerts(database.url, { smtpUrl: sink.url, ...options })
  instances.push(portreeve)
  return portreeve
}

const arrived = (count: number) =>
  until(
    () => sink.mails,
    (mails) => mails.length >= count,
  )

async function shown(portreeve: AlertsTest): Promise<Shown> {
  return (await portreeve.call<Shown>(alice.token, 'GET', 'alerts')).json.data
}

describe('an alert by email', () => {
  it('reaches the address of the account without any setting, with reason and next step', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    expect(await portreeve.raise(alice.id, '192.0.2.1')).toBe(true)
    const [mail] = await arrived(1)
    expect(mail?.to).toMatchObject([{ address: 'alice@people.test' }])
    expect(mail?.from).toMatchObject({ address: 'alerts@portreeve.test', name: 'Portreeve' })
    expect(mail?.subject).toBe('192.0.2.1 is listed')
    expect(mail?.text).toContain('The list says: “spam from 192.0.2.1”.')
    expect(mail?.text).toContain('Next step: Ask for removal.')
    expect(mail?.text?.split('\n')).toContain(`Details: ${LINK}?workspace=${alice.id}`)
    expect(mail?.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
    const { alerts } = await until(
      () => shown(portreeve),
      (data) => data.alerts[0]?.deliveries[0]?.status === 'sent',
    )
    expect(alerts).toMatchObject([
      {
        title: '192.0.2.1 is listed',
        deliveries: [{ type: 'email', status: 'sent', error: null }],
      },
    ])
  })

  it('is sent once, however often it is raised', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    await portreeve.raise(alice.id, '192.0.2.1')
    await arrived(1)
    expect(await portreeve.raise(alice.id, '192.0.2.1')).toBe(false)
    await aWhile()
    expect(sink.mails).toHaveLength(1)
  })

  it('is not sent when the transaction that raised it does not commit', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    const { raiseAlert } = await import('../../src/alerts/raise.ts')
    const failing = portreeve.db.transaction().execute(async (trx) => {
      await raiseAlert(trx, {
        workspaceId: alice.id,
        kind: 'a.b',
        incident: null,
        phase: 'once',
        severity: 'info',
        key: 'k',
        title: 't',
        text: 'x',
        nextStep: '',
        path: '/alerts',
        at: new Date(),
      })
      throw new Error('and then it fails')
    })
    await expect(failing).rejects.toThrow('and then it fails')
    await aWhile()
    expect(sink.mails).toEqual([])
  })

  it('becomes one digest when several alerts are raised at once', async () => {
    const portreeve = await start({ batching: { holdMs: 3_000, gapMs: 0, burstHoldMs: 0 } })
    alice = await portreeve.addPerson('Alice')
    for (const name of ['one.test', 'two.test', 'three.test']) await portreeve.raise(alice.id, name)
    const [mail] = await arrived(1)
    await aWhile(900)
    expect(sink.mails).toHaveLength(1)
    expect(mail?.subject).toBe('3 alerts: one.test is listed, …')
    for (const name of ['one.test', 'two.test', 'three.test'])
      expect(mail?.text).toContain(`spam from ${name}`)
    expect(mail?.text?.split(`Details: ${LINK}?workspace=${alice.id}\n`)).toHaveLength(4)
  })

  it('has no link when it is older than links', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    await portreeve.raise(alice.id, 'one.test', { path: '' })
    const [mail] = await arrived(1)
    expect(mail?.text).toContain('Next step: Ask for removal.')
    expect(mail?.text).not.toContain('Details:')
  })

  it('waits for the gap after the last email, and then contains all alerts since', async () => {
    const portreeve = await start({ batching: { holdMs: 0, gapMs: 1_200, burstHoldMs: 0 } })
    alice = await portreeve.addPerson('Alice')
    await portreeve.raise(alice.id, 'one.test')
    await arrived(1)
    await portreeve.raise(alice.id, 'two.test')
    await portreeve.raise(alice.id, 'three.test')
    await aWhile(500)
    expect(sink.mails).toHaveLength(1)
    const mails = await arrived(2)
    expect(mails[1]?.subject).toBe('2 alerts: two.test is listed, …')
  })

  it('is not sent during quiet hours, and one email contains all alerts at their end', async () => {
    let now = Date.parse('2026-11-21T22:30:00Z')
    const portreeve = await start({ clock: () => now })
    alice = await portreeve.addPerson('Alice')
    const channels = await portreeve.call<{ id: string }[]>(alice.token, 'GET', 'alerts/channels')
    const path = `alerts/channels/${channels.json.data[0]?.id}`
    const quietHours = { from: '23:00', to: '07:00', timeZone: 'Europe/Berlin' }
    expect((await portreeve.call(alice.token, 'PATCH', path, { quietHours })).status).toBe(200)
    await portreeve.raise(alice.id, 'one.test')
    await portreeve.raise(alice.id, 'two.test')
    await aWhile()
    expect(sink.mails).toEqual([])
    now = Date.parse('2026-11-22T06:00:01Z')
    await portreeve.db.updateTable('alertMessage').set({ dueAt: new Date() }).execute()
    const [mail] = await arrived(1)
    expect(mail?.subject).toBe('2 alerts: one.test is listed, …')
  })

  it('has no line break of a title in its header', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    await portreeve.raise(alice.id, 'x', { title: 'evil\r\nBcc: everybody@people.test' })
    const [mail] = await arrived(1)
    expect(mail?.subject).toBe('evil Bcc: everybody@people.test')
    expect(mail?.bcc ?? []).toEqual([])
  })

  it('has an HTML part with the color of the status and one button, and no markup of a title', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    const title = '<b>one.test</b> is listed'
    await portreeve.raise(alice.id, 'x', { title, path: '/monitoring/1' })
    const [mail] = await arrived(1)
    expect(mail?.text).toContain(title)
    expect(mail?.html).toContain('&lt;b&gt;one.test&lt;/b&gt; is listed')
    expect(mail?.html).toMatch(/border-left:4px solid #[0-9a-f]{6}/)
    expect(mail?.html?.match(/<a [^>]*display:inline-block/g)).toHaveLength(1)
  })
})

describe('a relay that is missing or rejects mail', () => {
  it('gets a retry with the same Message-ID after a temporary error', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    sink.behaviour = 'busy'
    await portreeve.raise(alice.id, 'one.test')
    const waiting = await until(
      () => shown(portreeve),
      ({ alerts }) => typeof alerts[0]?.deliveries[0]?.error === 'string',
    )
    expect(waiting.alerts[0]?.deliveries[0]).toMatchObject({
      status: 'waiting',
      error: expect.stringMatching('come back later'),
    })
    const { id } = await portreeve.db
      .selectFrom('alertMessage')
      .select('id')
      .executeTakeFirstOrThrow()
    sink.behaviour = 'taking'
    await portreeve.db.updateTable('alertMessage').set({ dueAt: new Date() }).execute()
    const [mail] = await arrived(1)
    expect(mail?.messageId).toBe(`<alert-${id}@portreeve.test>`)
  })

  it('gets no retry after a permanent error, and the API shows it', async () => {
    const portreeve = await start()
    alice = await portreeve.addPerson('Alice')
    sink.behaviour = 'refusing'
    await portreeve.raise(alice.id, 'one.test')
    const { alerts } = await until(
      () => shown(portreeve),
      (data) => data.alerts[0]?.deliveries[0]?.status === 'failed',
    )
    expect(alerts[0]?.deliveries[0]?.error).toMatch('go away')
  })

  it('gets no second copy of an email that it may have accepted', async () => {
    const relay = await startBreakingRelay()
    const portreeve = await start({ smtpUrl: relay.url })
    alice = await portreeve.addPerson('Alice')
    await portreeve.raise(alice.id, 'one.test')
    await until(
      () => shown(portreeve),
      (data) => data.alerts[0]?.deliveries[0]?.status === 'uncertain',
    )
    await portreeve.db.updateTable('alertMessage').set({ dueAt: new Date() }).execute()
    await aWhile()
    expect(relay.taken()).toBe(1)
    await relay.stop()
  })

  it('gets the emails that a killed sender had not handed over, and no others', async () => {
    const first = await start({ works: false })
    alice = await first.addPerson('Alice')
    await first.raise(alice.id, 'one.test')
    const dead = { attempts: 1, collecting: false, claimedUntil: new Date(Date.now() - 1) }
    await first.db
      .updateTable('alertMessage')
      .set({ state: 'handed-over', ...dead })
      .execute()
    await first.raise(alice.id, 'two.test')
    await first.db
      .updateTable('alertMessage')
      .set({ state: 'sending', ...dead })
      .where('state', '=', 'waiting')
      .execute()
    await start()
    const mails = await arrived(1)
    await aWhile()
    expect(mails.map(({ subject }) => subject)).toEqual(['two.test is listed'])
    const { alerts } = await shown(first)
    expect(alerts.map(({ deliveries }) => deliveries[0]?.status)).toEqual(['sent', 'uncertain'])
  })

  it('gets each mail once from two instances', async () => {
    const [first, second] = [await start(), await start()]
    alice = await first.addPerson('Alice')
    const names = Array.from({ length: 20 }, (_, index) => `host${index}.test`)
    await Promise.all(
      names.map((name, index) => (index % 2 ? first : second).raise(alice.id, name)),
    )
    const told = () =>
      names.filter((name) => sink.mails.some(({ text }) => text?.includes(`spam from ${name}`)))
    await until(told, (found) => found.length === names.length)
    await aWhile()
    const all = sink.mails.map(({ text }) => text ?? '').join('\n')
    for (const name of names) expect(all.split(`spam from ${name}”`)).toHaveLength(2)
  })

  it('is missing: no email is sent, and the API shows it', async () => {
    const portreeve = await start({ smtpUrl: '' })
    alice = await portreeve.addPerson('Alice')
    await portreeve.raise(alice.id, 'one.test')
    const { alerts, mail } = await until(
      () => shown(portreeve),
      (data) => data.alerts[0]?.deliveries[0]?.status === 'failed',
    )
    expect(mail).toBe(false)
    expect(alerts[0]?.deliveries[0]?.error).toMatch('SMTP_URL')
    const channels = await portreeve.call<{ status: string; problem: string }[]>(
      alice.token,
      'GET',
      'alerts/channels',
    )
    expect(channels.json.data).toMatchObject([
      { status: 'undeliverable', problem: expect.stringMatching('SMTP_URL') },
    ])
  })
})
