import { Type, type Static } from 'typebox'
import { MODULES } from '../http/access.ts'
import { nameComponents } from '../http/http-schema.ts'
import { MAX_HOSTS, MAX_OBJECTS } from './limits.ts'

/** Something that needs a person, and the screen to do it on. Objects with the same cause are one. */
export const Problem = Type.Object({
  key: Type.String({ description: 'The same as long as the problem lasts.' }),
  tone: Type.Enum(['bad', 'warn']),
  sentence: Type.String(),
  action: Type.String({ description: 'What to do, in a word or two.' }),
  path: Type.String({ description: 'Where to do it, from the root of the dashboard.' }),
  url: Type.String({ description: 'The same with the address of the service and the workspace.' }),
  count: Type.Optional(
    Type.Integer({ description: 'Problems that it stands for, where it is more than one.' }),
  ),
})
export type Problem = Static<typeof Problem>

export const ProblemList = Type.Object({
  count: Type.Integer({ description: 'All of `problems`, with those that an entry stands for.' }),
  problems: Type.Array(Problem, {
    description: `The worst first, of up to ${MAX_HOSTS} hosts and ${MAX_OBJECTS} objects of every other kind. Further ones of a kind are counted in one entry.`,
  }),
  setup: Type.Array(Problem, { description: 'What is left to set up.' }),
  administration: Type.Array(Problem, {
    description: 'What the administrators of the installation have to decide; empty for others.',
  }),
  missing: Type.Array(Type.Enum([...MODULES]), {
    description: 'Modules that could not be read now, and whose problems are missing.',
  }),
})
export type ProblemList = Static<typeof ProblemList>

nameComponents({ Problem, ProblemList })
