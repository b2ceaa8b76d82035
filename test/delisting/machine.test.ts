import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isFinal,
  transition,
  INITIAL_STATE,
  type RequestReadiness,
  type StepEvent,
  type StepState,
} from '../../src/delisting/steps/state-machine.ts'
import { METHODS, type Method } from '../../src/delisting/steps/methods.ts'
import { MAX_ATTEMPTS } from '../../src/delisting/steps/timing.ts'
import { DAY_MS, HOUR_MS } from '../../src/time.ts'

const START = new Date('2026-11-21T12:00:00Z')
const MINUTE = 60_000
const READY: RequestReadiness = { obstacles: [], wait: null, canSend: true }

function fresh(method: Method, rest: Partial<StepState> = {}): StepState {
  return { ...INITIAL_STATE, method, plan: {}, attempt: 1, confirmed: true, nextAt: START, ...rest }
}

const at = (milliseconds: number) => new Date(START.getTime() + milliseconds)
const listed = (ready: RequestReadiness | null = READY): StepEvent => ({
  type: 'answered',
  answer: 'listed',
  ttl: 0,
  ready,
})
const clean: Extract<StepEvent, { type: 'answered' }> = {
  type: 'answered',
  answer: 'clean',
  ttl: 0,
  ready: null,
}
const unknown: StepEvent = { type: 'answered', answer: 'unknown', ttl: 0, ready: null }

/** Lets events happen in order, a minute apart. */
function after(step: StepState, ...events: StepEvent[]): StepState {
  return events.reduce((state, event, index) => {
    const next = transition(state, event, at(index * MINUTE))
    if (!next) throw new Error(`${event.type} is not allowed in ${state.status}`)
    return next
  }, step)
}

describe('a step', () => {
  it('waits for a blocklist that removes addresses by itself, and needs two clean answers', () => {
    const waiting = after(
      fresh('automatic', { plan: { expectedHours: 24, deadlineHours: 72 } }),
      { type: 'start' },
      listed(),
    )
    expect(waiting).toMatchObject({ status: 'waiting', needs: null, deadlineAt: at(72 * HOUR_MS) })
    const once = transition(waiting, clean, at(24 * HOUR_MS)) as StepState
    expect(once).toMatchObject({ status: 'waiting', nextAt: at(24 * HOUR_MS + 15 * MINUTE) })
    expect(transition(once, clean, at(24 * HOUR_MS + 14 * MINUTE))).toMatchObject({
      status: 'waiting',
    })
    expect(transition(once, listed(), at(24 * HOUR_MS + 15 * MINUTE))).toMatchObject({
      status: 'waiting',
      cleanAt: null,
    })
    expect(transition(once, clean, at(24 * HOUR_MS + 15 * MINUTE))).toMatchObject({
      status: 'completed',
      outcome: 'cleared',
    })
  })

  it('does not check again while resolvers cache the answer', () => {
    const step = after(fresh('automatic'), { type: 'start' })
    const answered: StepEvent = { type: 'answered', answer: 'clean', ttl: 3 * HOUR_MS, ready: null }
    expect(transition(step, answered, START)).toMatchObject({ nextAt: at(3 * HOUR_MS) })
  })

  it('accepts one clean answer when a person is watching', () => {
    const step = after(fresh('form'), { type: 'start' })
    expect(transition(step, { ...clean, atOnce: true }, START)).toMatchObject({
      status: 'completed',
    })
  })

  it('sends a mail only after cause and fix, and without blockers', () => {
    const begun = after(fresh('email', { confirmed: false }), { type: 'start' })
    const asked = transition(begun, listed(), START) as StepState
    expect(asked).toMatchObject({ status: 'waiting', needs: 'confirm', request: 'none' })
    const said = transition(asked, { type: 'confirm' }, START) as StepState
    expect(said).toMatchObject({ confirmed: true, needs: null, nextAt: START })
    const blocked = { ...READY, obstacles: ['No reverse DNS.'] }
    expect(transition(said, listed(blocked), START)).toMatchObject({
      needs: 'mend',
      request: 'none',
      obstacles: blocked.obstacles,
    })
    const early = { ...READY, wait: { until: at(DAY_MS), why: 'Asked yesterday.' } }
    expect(transition(said, listed(early), START)).toMatchObject({
      needs: null,
      request: 'none',
      obstacles: ['Asked yesterday.'],
    })
    expect(transition(said, listed({ ...READY, canSend: false }), START)).toMatchObject({
      needs: 'send',
      request: 'none',
    })
    expect(transition(said, listed(), START)).toMatchObject({ status: 'running', request: 'due' })
  })

  it('never sends a mail about an address whose last answer was clean or unknown', () => {
    const due = after(fresh('email'), { type: 'start' }, listed())
    expect(due.request).toBe('due')
    for (const event of [clean, unknown])
      expect(transition(due, event, START)).toMatchObject({ request: 'none' })
  })

  it('retries a rejected mail three times and then fails', () => {
    let step = after(fresh('email'), { type: 'start' })
    for (const pause of [5, 30, 120]) {
      step = after(step, listed(), { type: 'claimed' })
      step = transition(step, { type: 'refused', forGood: false }, START) as StepState
      expect(step).toMatchObject({ status: 'running', request: 'none', nextAt: at(pause * MINUTE) })
    }
    step = after(step, listed(), { type: 'claimed' }, { type: 'refused', forGood: false })
    expect(step).toMatchObject({ status: 'failed', outcome: 'undelivered' })
  })

  it('counts a claimed mail without a result as sent', () => {
    const claimed = after(fresh('email'), { type: 'start' }, listed(), { type: 'claimed' })
    for (const event of [{ type: 'claimed' } as const, listed(), clean])
      expect(transition(claimed, event, START)).toBeNull()
    expect(transition(claimed, { type: 'unsure' }, START)).toMatchObject({
      status: 'email-sent',
      request: 'unsure',
    })
  })

  it('gives a form its time only from when a person submitted it', () => {
    const prepared = after(fresh('form'), { type: 'start' }, listed())
    expect(prepared).toMatchObject({
      status: 'waiting',
      needs: 'submit',
      deadlineAt: at(30 * DAY_MS),
    })
    const submitted = transition(prepared, { type: 'submitted' }, at(DAY_MS)) as StepState
    expect(submitted).toMatchObject({
      request: 'made',
      needs: null,
      deadlineAt: at(8 * DAY_MS),
      nextAt: at(DAY_MS + 6 * HOUR_MS),
    })
    expect(transition(submitted, { type: 'submitted' }, at(DAY_MS))).toBeNull()
    expect(transition(submitted, { type: 'confirm' }, at(DAY_MS))).toBeNull()
  })

  it('fails at its deadline, which waits a week at most for a list that does not answer', () => {
    const waiting = after(
      fresh('automatic', { plan: { deadlineHours: 72 } }),
      { type: 'start' },
      listed(),
    )
    expect(transition(waiting, listed(), at(72 * HOUR_MS))).toMatchObject({
      status: 'failed',
      outcome: 'still-listed',
    })
    const silent = follow(waiting, () => unknown)
    expect(silent).toMatchObject({ status: 'failed', outcome: 'unanswered' })
    expect(silent.endedAt).toEqual(at(72 * HOUR_MS + 7 * DAY_MS))
  })

  it('asks for cause and fix again before another request', () => {
    const failed = {
      status: 'failed',
      outcome: 'still-listed',
      request: 'made',
      nextAt: null,
    } as const
    const again = transition(fresh('email', failed), { type: 'retry' }, START) as StepState
    expect(again).toMatchObject({
      status: 'pending',
      attempt: 2,
      confirmed: false,
      request: 'none',
      nextAt: START,
    })
    expect(
      transition(fresh('email', { ...failed, outcome: 'undelivered' }), { type: 'retry' }, START),
    ).toMatchObject({
      confirmed: true,
    })
    expect(
      transition(fresh('email', { ...failed, attempt: MAX_ATTEMPTS }), { type: 'retry' }, START),
    ).toBeNull()
  })

  it('is cancelled in any state but the last ones', () => {
    expect(transition(fresh('form'), { type: 'cancel' }, START)).toMatchObject({
      status: 'failed',
      outcome: 'cancelled',
    })
    expect(transition(fresh('form', { status: 'failed' }), { type: 'cancel' }, START)).toBeNull()
  })
})

/** Checks a step whenever it is due, until it has ended. */
function follow(step: StepState, eventAt: (look: number) => StepEvent): StepState {
  for (let look = 0; step.nextAt; look++) {
    if (look > 10_000) throw new Error('it does not end')
    const now = step.nextAt
    const next = transition(
      step,
      step.status === 'pending' ? { type: 'start' } : eventAt(look),
      now,
    ) as StepState
    if (next.nextAt && next.nextAt <= now && next.request !== 'due' && step.status !== 'pending')
      throw new Error('it does not go on')
    // Another component sends an email that is due; here it never does.
    step =
      next.request === 'due' ? { ...next, nextAt: new Date(now.getTime() + MINUTE * 60) } : next
  }
  return step
}

const method = fc.constantFrom(...METHODS)
const plan = fc.record(
  {
    expectedHours: fc.integer({ min: 1, max: 1_000 }),
    deadlineHours: fc.integer({ min: 1, max: 1_000 }),
  },
  { requiredKeys: [] },
)
const readiness: fc.Arbitrary<RequestReadiness> = fc.record({
  obstacles: fc.constantFrom<string[][]>([], ['Mend it.']),
  wait: fc.option(
    fc
      .integer({ min: -DAY_MS, max: 60 * DAY_MS })
      .map((time) => ({ until: at(time), why: 'Too early.' })),
  ),
  canSend: fc.boolean(),
})
const answer: fc.Arbitrary<StepEvent> = fc.record({
  type: fc.constant('answered' as const),
  answer: fc.constantFrom('listed', 'clean', 'unknown'),
  ttl: fc.integer({ min: 0, max: DAY_MS }),
  ready: fc.option<RequestReadiness>(readiness),
  atOnce: fc.boolean(),
})
const anyEvent: fc.Arbitrary<StepEvent> = fc.oneof(
  answer,
  fc.constantFrom<StepEvent[]>(
    { type: 'start' },
    { type: 'claimed' },
    { type: 'sent' },
    { type: 'unsure' },
    { type: 'confirm' },
    { type: 'submitted' },
    { type: 'retry' },
    { type: 'cancel' },
    { type: 'refused', forGood: true },
    { type: 'refused', forGood: false },
  ),
)
const story = fc.record({
  step: fc
    .record({ method, plan, confirmed: fc.boolean() })
    .map(({ method: by, ...rest }) => fresh(by, rest)),
  events: fc.array(fc.record({ event: anyEvent, pause: fc.integer({ min: 0, max: 3 * DAY_MS }) }), {
    maxLength: 60,
  }),
})

describe('any sequence of events', () => {
  it('leaves completed steps unchanged, and failed steps only by a retry, up to three times', () => {
    fc.assert(
      fc.property(story, ({ step, events }) => {
        let now = START.getTime()
        for (const { event, pause } of events) {
          const next = transition(step, event, new Date((now += pause)))
          if (step.status === 'completed') expect(next).toBeNull()
          if (step.status === 'failed' && next) expect(event.type).toBe('retry')
          step = next ?? step
          expect(step.attempt).toBeLessThanOrEqual(MAX_ATTEMPTS)
          expect(step.nextAt === null).toBe(isFinal(step))
        }
      }),
    )
  })

  it('hands a mail over once per attempt, unless the relay rejects it', () => {
    fc.assert(
      fc.property(story, ({ step, events }) => {
        let now = START.getTime()
        let handedOver = 0
        for (const { event, pause } of events) {
          const next = transition(step, event, new Date((now += pause)))
          if (next && event.type === 'claimed') handedOver += 1
          if (next && event.type === 'refused' && step.request === 'claimed') handedOver -= 1
          if (next && next.attempt > step.attempt) handedOver = 0
          step = next ?? step
          expect(handedOver).toBeLessThanOrEqual(1)
        }
      }),
    )
  })

  it('comes to its end, however the list and the people behave', () => {
    const from = fc.record({
      step: story.map(({ step }) => step),
      answers: fc.array(answer, { minLength: 1 }),
    })
    fc.assert(
      fc.property(from, ({ step, answers }) => {
        const ended = follow(step, (look) => answers[look % answers.length] as StepEvent)
        const most = Math.max(30 * DAY_MS, 1_000 * HOUR_MS) + 7 * DAY_MS + 2 * DAY_MS
        expect(isFinal(ended)).toBe(true)
        expect((ended.endedAt as Date).getTime() - START.getTime()).toBeLessThanOrEqual(most)
      }),
    )
  })
})
