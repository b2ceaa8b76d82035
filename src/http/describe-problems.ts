import type { FastifyError } from 'fastify'
import type { FaultDetail } from '../errors.ts'

/** What the validator found, with the schema it found it by. */
type Problem = NonNullable<FastifyError['validation']>[number] & { parentSchema?: Schema }
type Schema = { 'x-sentence'?: string; properties?: Record<string, { const?: string }> }

/** What the validator would say with a regular expression in it, or with a word of its own. */
const SENTENCES: Record<string, string> = { pattern: 'is not of the right form', anyOf: 'is not of the right form' }

/** Problems of one request that are described. */
export const MAX_DETAILS = 10

/** Characters of a field's path: the request itself may have chosen the names in it. */
const MAX_PATH_LENGTH = 200

/**
 * Each field that is wrong, once, in words for people. Where one of several schemas must fit, it is about the one that was meant.
 * @param context the part of the request, which stands in for a field's name where there is none
 */
export function describeProblems(problems: Problem[], context = 'request'): FaultDetail[] {
  const choices = problems.filter(({ keyword }) => keyword === 'anyOf')
  // The inner ones first: what is left of them belongs to a choice around them.
  const inward = choices.toSorted((a, b) => b.schemaPath.length - a.schemaPath.length)
  const left = inward.reduce(withoutChoice, problems)
  return merged(left.map((problem) => detailOf(problem, context))).slice(0, MAX_DETAILS)
}

/** In place of a choice and all that is wrong with each of its branches, what is wrong with the branch that was meant. */
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

/** Which branch of a choice a problem is about; undefined when it is about none. */
function branchOf({ schemaPath, instancePath }: Problem, choice: Problem): string | undefined {
  const start = `${choice.schemaPath}/`
  const isWithin = schemaPath.startsWith(start) && `${instancePath}/`.startsWith(`${choice.instancePath}/`)
  return isWithin ? schemaPath.slice(start.length).split('/')[0] : undefined
}

/** Nobody means null who gave something, nor another kind than the one that is named. */
function branchesMeant(branches: Problem[][], { instancePath }: Problem): Problem[] {
  const given = branches.filter((branch) => !branch.some((one) => isNull(one) && one.instancePath === instancePath))
  const ofTheKind = given.filter((branch) => !branch.some(({ keyword }) => keyword === 'const'))
  if (ofTheKind.length === 0) return given.flat().filter(({ keyword }) => keyword === 'const')
  const unnamed = ofTheKind.flat().filter(lacksKind)
  return unnamed.length > 0 ? unnamed : alternatives(ofTheKind)
}

/** Whether the field is missing that says which kind is meant. */
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

/** Of several that lack one field each, the first is named, with the others in its sentence. */
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
  const steps = [...problem.instancePath.split('/').slice(1), ...(missing === undefined ? [] : [missing])]
  return { path: steps.join('.').slice(0, MAX_PATH_LENGTH) || context, message: sentenceOf(problem) }
}

function sentenceOf({ keyword, params, message, parentSchema }: Problem): string {
  if (keyword === 'required') {
    const kind = kindOf(parentSchema, params)
    return kind === undefined ? 'is required' : `must be ${kind}`
  }
  if (keyword === 'const') return `must be ${String(params['allowedValue'])}`
  if (keyword === 'enum') return `${message}: ${String(params['allowedValues'])}`
  const ours = keyword === 'type' ? undefined : (parentSchema?.['x-sentence'] ?? SENTENCES[keyword])
  return ours ?? message ?? 'is not valid'
}

/** What is said of one field by several branches is one sentence. */
function merged(details: FaultDetail[]): FaultDetail[] {
  const sentences = new Map<string, Set<string>>()
  for (const { path, message } of details) sentences.set(path, (sentences.get(path) ?? new Set()).add(message))
  return Array.from(sentences, ([path, messages]) => ({ path, message: [...messages].join(' or ') }))
}
