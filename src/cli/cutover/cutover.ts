import { STEPS } from '../../migration/cutover/steps.ts'
import { defineCommand, defineGroup } from '../command.ts'
import { SERVICE_FLAGS } from '../service-access.ts'

const operands = [{ name: 'BATCH', summary: 'the id of the batch, the last part of its address' }]
const exitCodes = {
  0: 'the cut-over is done, or proceeds by itself',
  1: 'it needs your action, or was cancelled',
}
const example = '019a1c52-7a10-7c3b-9d52-0c5f2f1d7a11'

const showCommand = defineCommand({
  name: 'show',
  summary: 'Show the steps of a cut-over',
  operands,
  flags: {
    wait: { summary: 'follow it until it is done or needs your action' },
    ...SERVICE_FLAGS,
  },
  examples: [{ does: 'Show the steps', command: `portreeve cutover show ${example}` }],
  exitCodes,
  async run({ operands: [batch = ''], flags, json }) {
    return (await import('./run-cutover.ts')).showCutover(batch, flags, json)
  },
})

const beginCommand = defineCommand({
  name: 'begin',
  summary: 'Begin the cut-over of a domain',
  description: [
    'It watches the MX records of the domain and the old mailboxes, and shows what to do next. It changes nothing in DNS.',
  ],
  operands,
  flags: {
    domain: { value: 'DOMAIN', summary: 'domain of the mailboxes', required: true },
    mx: {
      value: 'HOST',
      summary: 'host of a new MX record; once for each',
      multiple: true,
      required: true,
    },
    ttl: {
      value: 'SECONDS',
      summary: 'TTL before the switch',
      range: [30, 86_400],
      defaultText: '300',
    },
    'quiet-hours': {
      value: 'HOURS',
      summary: 'hours without a new message at the old servers',
      range: [0, 720],
      defaultText: '120',
    },
    'full-proof': { summary: 'compare every message byte by byte in the proof' },
    ...SERVICE_FLAGS,
  },
  examples: [
    {
      does: 'Move the mail of example.com',
      command: `portreeve cutover begin ${example} --domain example.com --mx mx1.new.example --mx mx2.new.example`,
    },
  ],
  exitCodes,
  async run({ operands: [batch = ''], flags, json }) {
    return (await import('./run-cutover.ts')).beginCutover(batch, flags, json)
  },
})

const confirmCommand = defineCommand({
  name: 'confirm',
  summary: 'Confirm or skip the open step',
  operands: [...operands, { name: 'STEP', choices: STEPS }],
  flags: {
    note: { value: 'TEXT', summary: 'why; it is recorded with your name', required: true },
    skip: { summary: 'the step is left out' },
    ...SERVICE_FLAGS,
  },
  examples: [
    {
      does: 'Confirm that the MX records are switched',
      command: `portreeve cutover confirm ${example} switch --note seen-by-us`,
    },
  ],
  exitCodes,
  async run({ operands: [batch = '', step = ''], flags, json }) {
    return (await import('./run-cutover.ts')).confirmCutoverStep(batch, step, flags, json)
  },
})

const finalPassCommand = defineCommand({
  name: 'final-pass',
  summary: 'Start the final pass of all mailboxes',
  operands,
  flags: SERVICE_FLAGS,
  examples: [{ does: 'Start it', command: `portreeve cutover final-pass ${example}` }],
  exitCodes,
  async run({ operands: [batch = ''], flags, json }) {
    return (await import('./run-cutover.ts')).actOnCutover(batch, 'final-pass', flags, json)
  },
})

const cancelCommand = defineCommand({
  name: 'cancel',
  summary: 'Cancel a cut-over',
  description: ['The batch and its synchronization stay as they are.'],
  operands,
  flags: SERVICE_FLAGS,
  examples: [{ does: 'Cancel it', command: `portreeve cutover cancel ${example}` }],
  exitCodes,
  async run({ operands: [batch = ''], flags, json }) {
    return (await import('./run-cutover.ts')).actOnCutover(batch, 'cancel', flags, json)
  },
})

export const cutoverCommand = defineGroup({
  name: 'cutover',
  summary: 'Follow the cut-over of a domain whose mailboxes are moved',
  examples: [
    { does: 'Show the steps of a cut-over', command: `portreeve cutover show ${example}` },
  ],
  subcommands: [showCommand, beginCommand, confirmCommand, finalPassCommand, cancelCommand],
})
