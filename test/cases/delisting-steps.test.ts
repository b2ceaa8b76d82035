import type { Method } from '../../src/delisting/steps/methods.ts'
import {
  INITIAL_STATE,
  transition,
  type RequestReadiness,
  type StepEvent,
  type StepState,
} from '../../src/delisting/steps/state-machine.ts'
import { addMs } from '../../src/delisting/steps/timing.ts'
import { HOUR_MS } from '../../src/time.ts'
import { runCases } from './run-cases.ts'

/** Events, each after its hours since the start: `12.25 listed`. */
type Input = { method: Method; plan: StepState['plan']; events: string[] }

const START = new Date('2026-11-21T12:00:00Z')
const READY: RequestReadiness = { obstacles: [], wait: null, canSend: true }

function eventOf(name: string): StepEvent {
  if (name === 'listed' || name === 'clean' || name === 'unknown')
    return { type: 'answered', answer: name, ttl: 0, ready: READY }
  if (name === 'deferred' || name === 'rejected')
    return { type: 'refused', forGood: name === 'rejected' }
  return { type: name as 'start' }
}

runCases('delisting-steps.json', ({ method, plan, events }: Input) => {
  let step: StepState = {
    ...INITIAL_STATE,
    method,
    plan,
    attempt: 1,
    confirmed: true,
    nextAt: START,
  }
  for (const [index, event] of events.entries()) {
    const [hours = '', name = ''] = event.split(' ')
    const next = transition(step, eventOf(name), addMs(START, Number(hours) * HOUR_MS))
    if (next === null && index === events.length - 1) return { refused: name }
    if (next === null) throw new Error(`“${event}” is not possible in ${step.status}.`)
    step = next
  }
  return step
})
