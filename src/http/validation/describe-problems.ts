import type { FastifyError } from 'fastify'
import type { FaultDetail } from '../../errors.ts'
import { SHOWN_NAME } from '../shown-name.ts'

/** A validation error, with the schema that it comes from. */
type Problem = NonNullable<FastifyError['validation']>[number] & { parentSchema?: Schema }
type Schema = {
  'x-sentence'?: string
  pattern?: string
  properties?: Record<string, { const?: string }>
}

/** Messages in place of the validator's own, which contain regular expressions or jargon. */
const SENTENCES: Record<string, string> = {
  pattern: 'has an invalid format',
  anyOf: 'has an invalid format',
}

const NAME_SENTENCE = 'must not have line breaks, direction marks or other invisible characters'

/** Problems described in one response. */
export const MAX_DETAILS = 10

/** Characters of a field's path, whose names may come from the request. */
const MAX_PATH_LENGTH = 200

/**
 * Describes each invalid field once. Where one of several schemas must match, the problems of the
 * one that the request meant are described.
 * @param context the part of the request, used as the path where there is no field
 */
export function describeProblems(problems: Problem[], context = 'request'): FaultDetail[] {
  const choices = problems.filter(({ keyword }) => keyword === 'anyOf')
  // Inner choices first: their remaining problems belong to the choice around them.
  const inward = choices.toSorted((a, b) => b.schemaPath.length - a.schemaPath.length)
  const left = inward.reduce(withoutChoice, problems)
  return merged(left.map((problem) => detailOf(problem, context))).slice(0, MAX_DETAILS)
}

/**
 * Replaces a choice and the problems of all its branches by the problems of the branch that the
 * request meant.
 */
function withoutChoice(problems: Problem[], choice: Problem): Problem[] {
  const branches = new Map<string, Problem[]>()
  const others: Problem[] = []
  for (const problem of problems) {
    const branch = branchOf(problem, choice)
    if (branch !== undefined) branches.set(branch, (branches.get(branch) ?? []).concat(problem))
    else if (problem !== choice) others.push(problem)
  }
  const meant = branchesMeant([...branches.values()], choice)
  return [...others, ...(meant.length > 0 ? meant : [choice])]
}

/** The branch of a choice that a problem belongs to, if any. */
function branchOf({ schemaPath, instancePath }: Problem, choice: Problem): string | undefined {
  const start = `${choice.schemaPath}/`
  const isWithin =
    schemaPath.startsWith(start) && `${instancePath}/`.startsWith(`${choice.instancePath}/`)
  return isWithin ? schemaPath.slice(start.length).split('/')[0] : undefined
}

/**
 * Excludes null branches where a value was sent, and branches of another kind than the one named.
 */
function branchesMeant(branches: Problem[][], { instancePath }: Problem): Problem[] {
  const given = branches.filter(
    (branch) => !branch.some((one) => isNull(one) && one.instancePath === instancePath),
  )
  const ofTheKind = given.filter((branch) => !branch.some(({ keyword }) => keyword === 'const'))
  if (ofTheKind.length === 0) return given.flat().filter(({ keyword }) => keyword === 'const')
  const unnamed = ofTheKind.flat().filter(lacksKind)
  return unnamed.length > 0 ? unnamed : alternatives(ofTheKind)
}

/** Whether the field is missing that names the kind. */
function lacksKind({ keyword, params, parentSchema }: Problem): boolean {
  return keyword === 'required' && kindOf(parentSchema, params) !== undefined
}

function kindOf(schema: Schema | undefined, params: Problem['params']): string | undefined {
  return schema?.properties?.[missingOf(params) ?? '']?.const
}

function missingOf(params: Problem['params']): string | undefined {
  return params['missingProperty'] as string | undefined
}

function isNull({ keyword, params }: Problem): boolean {
  return keyword === 'type' && params['type'] === 'null'
}

/** Where each branch lacks one field, reports the first and names the others in its message. */
function alternatives(branches: Problem[][]): Problem[] {
  const lacking = branches.map((branch) =>
    branch.length === 1 && branch[0]?.keyword === 'required' ? branch[0] : null,
  )
  const [first, ...others] = lacking
  if (!first || others.length === 0 || others.includes(null)) return branches.flat()
  const names = others.map((other) => missingOf(other?.params ?? {}))
  return [{ ...first, message: `is required, or ${names.join(' or ')}`, keyword: 'alternatives' }]
}

function detailOf(problem: Problem, context: string): FaultDetail {
  const missing = missingOf(problem.params)
  const steps = [
    ...problem.instancePath.split('/').slice(1),
    ...(missing === undefined ? [] : [missing]),
  ]
  return {
    path: steps.join('.').slice(0, MAX_PATH_LENGTH) || context,
    message: sentenceOf(problem),
  }
}

function sentenceOf({ keyword, params, message, parentSchema }: Problem): string {
  if (keyword === 'required') {
    const kind = kindOf(parentSchema, params)
    return kind === undefined ? 'is required' : `must be ${kind}`
  }
  if (keyword === 'const') return `must be ${String(params['allowedValue'])}`
  if (keyword === 'enum') return `${message}: ${String(params['allowedValues'])}`
  if (keyword === 'pattern' && parentSchema?.pattern === SHOWN_NAME) return NAME_SENTENCE
  const ours = keyword === 'type' ? undefined : (parentSchema?.['x-sentence'] ?? SENTENCES[keyword])
  return ours ?? message ?? 'is not valid'
}

/** Combines the problems of one field into one message. */
function merged(details: FaultDetail[]): FaultDetail[] {
  const sentences = new Map<string, Set<string>>()
  for (const { path, message } of details)
    sentences.set(path, (sentences.get(path) ?? new Set()).add(message))
  return Array.from(sentences, ([path, messages]) => ({
    path,
    message: inOneSentence([...messages]),
  }))
}

const MUST_BE = 'must be '

/** Joins “must be a” and “must be b” to “must be a or b”. */
function inOneSentence(messages: string[]): string {
  const [first = '', ...others] = messages
  if (!messages.every((message) => message.startsWith(MUST_BE))) return messages.join(' or ')
  const rest = others.map((message) => message.slice(MUST_BE.length))
  const last = rest.pop()
  return last === undefined ? first : `${[first, ...rest].join(', ')} or ${last}`
}
