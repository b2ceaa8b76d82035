import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Person } from '../module.ts'
import { startRules, type Rule, type RulesTest } from './rules-test.ts'

let test: RulesTest
let bob: Person
let ops: string
let pager: string

beforeAll(async () => {
  test = await startRules()
  bob = await test.first.addPerson('Bob')
  ops = (await test.addChannel('discord', { label: '#ops' })).id
  pager = (await test.addChannel('pagerduty', { label: 'On call' })).id
}, 60_000)
beforeEach(() => test.first.db.deleteFrom('alertRule').execute())
afterAll(() => test.stop())

const ESCALATING = () => ({
  name: 'Production',
  kinds: ['blacklist'],
  labels: ['production'],
  minSeverity: 'critical' as const,
  channels: [ops],
  escalation: { steps: [{ afterMinutes: 15, channels: [pager] }], repeats: 2 },
})

async function created(body: Parameters<RulesTest['create']>[0]): Promise<Rule> {
  const { status, json } = await test.create(body)
  expect(status, json.error).toBe(201)
  return json.data
}

describe('alert rules', () => {
  it('are created, listed in their order, changed and deleted', async () => {
    expect((await test.list()).json.data).toEqual([])
    const rule = await created(ESCALATING())
    expect(rule).toMatchObject({ ...ESCALATING(), enabled: true, quietHours: null, problem: null })
    expect(rule.sentence).toBe(
      'Critical blocklist alerts about objects with the label production go to #ops (Discord). After 15 minutes without acknowledgement, they go to On call (PagerDuty). This repeats up to 2 times.',
    )
    const second = await created({ channels: [pager] })
    expect(second.sentence).toBe('All alerts go to On call (PagerDuty).')
    const changed = await test.change(second.id, {
      minSeverity: 'error',
      objects: ['*.example.com'],
    })
    expect(changed.json.data).toMatchObject({ minSeverity: 'error', channels: [pager] })
    expect(changed.json.data.sentence).toBe(
      'Critical and error alerts about *.example.com go to On call (PagerDuty).',
    )
    const order = { ids: [second.id, rule.id] }
    const ordered = await test.first.call<Rule[]>(
      test.alice.token,
      'PUT',
      'alerts/rules/order',
      order,
    )
    expect(ordered.json.data.map(({ id }) => id)).toEqual(order.ids)
    expect((await test.list()).json.data.map(({ id }) => id)).toEqual(order.ids)
    const path = `alerts/rules/${rule.id}`
    expect((await test.first.call(test.alice.token, 'DELETE', path)).status).toBe(200)
    expect((await test.first.call(test.alice.token, 'DELETE', path)).status).toBe(404)
    expect((await test.list()).json.data.map(({ id }) => id)).toEqual([second.id])
  })

  it('say what is wrong with them', async () => {
    const unknown = randomUUID()
    const quiet = { days: ['mon'] as const, from: '22:00', to: '07:00', timeZone: 'Mars/Olympus' }
    const week = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
    for (const [body, sentence] of [
      [{ channels: [unknown] }, /channels names .* not an alert channel/],
      [
        { channels: [ops], escalation: { steps: [{ afterMinutes: 5, channels: [unknown] }] } },
        /escalation\.steps\.0\.channels names/,
      ],
      [{ channels: [] }, /channels/],
      [{ channels: [ops], kinds: ['Blacklist!'] }, /kinds/],
      [{ channels: [ops], kinds: [] }, /kinds/],
      [{ channels: [ops], labels: ['Production'] }, /labels/],
      [{ channels: [ops], objects: Array.from({ length: 51 }, (_, at) => `host${at}`) }, /objects/],
      [{ channels: [ops], objects: ['a'.repeat(261)] }, /objects/],
      [{ channels: [ops], quietHours: quiet }, /not a time zone/],
      [
        {
          channels: [ops],
          quietHours: { days: week, from: '08:00', to: '08:00', timeZone: 'UTC' },
        },
        /whole week/,
      ],
      [
        { channels: [ops], escalation: { steps: [{ afterMinutes: 0, channels: [ops] }] } },
        /afterMinutes/,
      ],
      [{ channels: [ops], escalation: { steps: [], repeats: 1 } }, /steps/],
      [
        {
          channels: [ops],
          escalation: { steps: [{ afterMinutes: 1, channels: [ops] }], repeats: 99 },
        },
        /repeats/,
      ],
    ] as const) {
      const { status, json } = await test.create(body as never)
      expect(status, JSON.stringify(body)).toBe(400)
      expect(json.error).toMatch(sentence)
    }
    expect((await test.list()).json.data).toEqual([])
  })

  it('are up to 50, also when they are created at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 55 }, (_, index) => test.create({ name: `${index}`, channels: [ops] })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50)
    expect(answers.find(({ status }) => status === 409)?.json.error).toMatch(/up to 50 alert rules/)
  })

  it('belong to their workspace', async () => {
    const rule = await created(ESCALATING())
    const reader = await test.addReader()
    expect((await test.list(bob.token)).json.data).toEqual([])
    expect((await test.change(rule.id, { name: 'mine' }, bob.token)).status).toBe(404)
    expect((await test.create({ channels: [ops] }, bob.token)).status).toBe(400)
    const foreign = await test.preview(
      { kind: 'dmarc.silent', severity: 'info', draft: { channels: [ops] } },
      bob.token,
    )
    expect(foreign.status).toBe(400)
    for (const [method, path, body] of [
      ['DELETE', `alerts/rules/${rule.id}`, undefined],
      ['PUT', 'alerts/rules/order', { ids: [rule.id] }],
    ] as const) {
      const answer = await test.first.call(bob.token, method, path, body)
      expect([400, 404], `${method} ${path}`).toContain(answer.status)
    }
    expect((await test.list('')).status).toBe(401)
    expect((await test.list(reader.token)).json.data).toHaveLength(1)
    expect((await test.create({ channels: [ops] }, reader.token)).status).toBe(403)
    expect((await test.change(rule.id, { name: 'mine' }, reader.token)).status).toBe(403)
    const shown = await test.preview({ kind: 'blacklist.listed', severity: 'info' }, reader.token)
    expect(shown.status).toBe(200)
  })

  it('keep their order complete', async () => {
    const rules = [await created({ channels: [ops] }), await created({ channels: [pager] })]
    const put = (ids: string[]) =>
      test.first.call(test.alice.token, 'PUT', 'alerts/rules/order', { ids })
    expect((await put([rules[0]!.id])).status).toBe(409)
    expect((await put([rules[0]!.id, randomUUID()])).status).toBe(400)
    expect((await put([rules[0]!.id, rules[0]!.id])).status).toBe(400)
  })

  it('are skipped without a channel, and say so', async () => {
    const { id } = await test.addChannel('slack')
    await created({ name: 'Chat', channels: [id] })
    await test.first.call(test.alice.token, 'DELETE', `alerts/channels/${id}`)
    const [rule] = (await test.list()).json.data
    expect(rule?.problem).toMatch(/none of its channels/)
    expect(rule?.sentence).toBe('All alerts go to a deleted channel.')
    const { json } = await test.preview({ kind: 'blacklist.listed', severity: 'error' })
    expect(json.data.rule).toBe(null)
  })
})

describe('the preview of an alert', () => {
  it('names the rule, the channels and the escalation', async () => {
    const rule = await created(ESCALATING())
    const at = '2026-11-24T12:00:00.000Z'
    const subject = { kind: 'blacklist.listed', severity: 'critical', labels: ['production'], at }
    const { json } = await test.preview(subject)
    expect(json.data).toMatchObject({
      sentence: 'The rule “Production” applies: #ops (Discord) gets it at once.',
      rule: { id: rule.id, sentence: rule.sentence },
      channels: [{ id: ops, receives: true, reason: null, heldUntil: null }],
      escalation: [{ at: '2026-11-24T12:15:00.000Z', channels: [{ id: pager, receives: true }] }],
    })
    const other = await test.preview({ ...subject, severity: 'error' })
    expect(other.json.data.rule).toBe(null)
    expect(other.json.data.channels.map(({ id }) => id)).toEqual(
      expect.arrayContaining([ops, pager]),
    )
  })

  it('finds the labels of an object by its name', async () => {
    const labels = ['production', 'mail']
    const values = { workspaceId: test.alice.id, host: 'mail.example.com', lists: '{}', labels }
    await test.first.db.insertInto('monitoredHost').values(values).execute()
    const rule = await created(ESCALATING())
    const subject = { kind: 'blacklist.listed', severity: 'critical', object: 'mail.example.com' }
    const { json } = await test.preview(subject)
    expect(json.data.labels).toEqual(['mail', 'production'])
    expect(json.data.rule?.id).toBe(rule.id)
    const used = await test.first.call(test.alice.token, 'GET', 'alerts/labels')
    expect(used.json.data).toEqual([
      { label: 'mail', objects: 1 },
      { label: 'production', objects: 1 },
    ])
    expect((await test.first.call(bob.token, 'GET', 'alerts/labels')).json.data).toEqual([])
    expect((await test.preview(subject, bob.token)).json.data.labels).toEqual([])
  })

  it('tries a draft, alone and in place of a rule', async () => {
    const rule = await created({ name: 'All', channels: [ops] })
    const draft = { name: 'Draft', kinds: ['dmarc'], channels: [pager] }
    const subject = { kind: 'dmarc.silent', severity: 'warning' }
    expect((await test.preview({ ...subject, draft })).json.data.rule?.id).toBe(rule.id)
    const replaced = await test.preview({ ...subject, draft, draftOf: rule.id })
    expect(replaced.json.data.channels.map(({ id }) => id)).toEqual([pager])
    const missing = await test.preview({ ...subject, draft, draftOf: randomUUID() })
    expect(missing.status).toBe(404)
    expect((await test.list()).json.data).toHaveLength(1)
  })

  it('says until when quiet hours hold an alert', async () => {
    const quietHours = { days: ['tue' as const], from: '22:00', to: '07:00', timeZone: 'UTC' }
    await created({ ...ESCALATING(), minSeverity: null, labels: null, quietHours })
    const subject = { kind: 'blacklist.listed', severity: 'error', at: '2026-11-24T23:00:00Z' }
    const held = await test.preview(subject)
    expect(held.json.data).toMatchObject({
      channels: [{ receives: true, heldUntil: '2026-11-25T07:00:00.000Z' }],
      escalation: [{ at: '2026-11-25T07:15:00.000Z' }],
    })
    const critical = await test.preview({ ...subject, severity: 'critical' })
    expect(critical.json.data.channels[0]?.heldUntil).toBe(null)
  })
})
