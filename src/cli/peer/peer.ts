import { defineVerbs, type VerbSpec } from '../verbs.ts'

const EXAMPLE_ID = '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11'
const EXAMPLE_FINGERPRINT = '6a9bd7ed924bd169752727b85ede4c2e669026c6794e1c49d66b9ba94abbcb73'
const ID = { name: 'ID', summary: 'ID of the peer, from peer list' } as const

const load = () => import('./manage-peers.ts')

type Verb = Parameters<Awaited<ReturnType<typeof load>>['runVerb']>[0]
const SPECS: VerbSpec<Verb>[] = [
  {
    name: 'list',
    summary: 'List peers with their states, and the fingerprint of this installation',
    example: ['All peers', ''],
  },
  {
    name: 'add',
    summary: 'Add an installation as a peer and print its fingerprint',
    description: ['Nothing is exchanged before both sides approve.'],
    operands: [{ name: 'URL', summary: 'where its attack-reporting endpoints are reached' }],
    example: ['Add an installation', 'https://reports.example.net'],
  },
  {
    name: 'approve',
    summary: 'Approve a peer by the fingerprint that you compared',
    description: ['Also for a peer that was refused, and for one with a new key.'],
    operands: [ID, { name: 'FINGERPRINT', summary: '64 hexadecimal digits, without spaces' }],
    example: ['Approve a peer', `${EXAMPLE_ID} ${EXAMPLE_FINGERPRINT}`],
  },
  {
    name: 'end',
    summary: 'End a peering and delete the evidence of the peer',
    description: ['Declines a request; the second time it is forgotten.'],
    operands: [ID],
    example: ['End a peering', EXAMPLE_ID],
  },
]

export const peerCommand = defineVerbs(
  {
    name: 'peer',
    summary: 'Exchange evidence of attacks with other installations',
    examples: [
      { does: 'All peers', command: 'portreeve peer list' },
      {
        does: 'Add an installation',
        command: 'portreeve peer add https://reports.example.net',
      },
    ],
  },
  SPECS,
  async (verb, operands, json) => (await load()).runVerb(verb, operands, json),
)
