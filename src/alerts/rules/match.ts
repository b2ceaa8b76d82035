import { SEVERITIES, type Severity } from '../severity.ts'
import type { RuleConditions, RuleSubject } from './rule.ts'

type Candidate = RuleConditions & { enabled: boolean; channels: string[] }

/**
 * The first rule that applies to an alert. A rule without a channel that can receive alerts is
 * skipped, so that no alert is lost with a deleted channel.
 * @param rules in their order
 * @param usable IDs of the channels that exist, are confirmed, and were not disabled by the service
 * @returns undefined where the settings of the channels decide
 */
export function findRule<T extends Candidate>(
  rules: readonly T[],
  subject: RuleSubject,
  usable: ReadonlySet<string>,
): T | undefined {
  return rules.find(
    (rule) =>
      rule.enabled && rule.channels.some((id) => usable.has(id)) && matchesRule(rule, subject),
  )
}

/** Whether all conditions of a rule hold. */
export function matchesRule(conditions: RuleConditions, subject: RuleSubject): boolean {
  const { kinds, objects, labels, minSeverity } = conditions
  return (
    (kinds === null || kinds.some((kind) => matchesKind(kind, subject.kind))) &&
    (minSeverity === null || isAtLeastAsUrgent(subject.severity, minSeverity)) &&
    (labels === null || labels.some((label) => subject.labels.includes(label))) &&
    (objects === null ||
      objects.some((pattern) => subject.names.some((name) => matchesPattern(pattern, name))))
  )
}

/** Whether a kind is this one or begins with this word: `blacklist` covers `blacklist.listed`. */
export function matchesKind(wanted: string, kind: string): boolean {
  return kind === wanted || kind.split('.')[0] === wanted
}

export function isAtLeastAsUrgent(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least)
}

/**
 * Whether a pattern matches a whole name, regardless of case; `*` stands for any characters, also
 * none. Its time is bounded by the product of both lengths, whatever the pattern.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const wanted = pattern.toLowerCase()
  const text = name.toLowerCase()
  let [at, position] = [0, 0]
  // Where the last star was, and where in the text what follows it was last tried.
  let [star, tried] = [-1, 0]
  while (position < text.length) {
    if (wanted[at] === '*') {
      star = at++
      tried = position
    } else if (wanted[at] === text[position]) {
      at++
      position++
    } else if (star >= 0) {
      at = star + 1
      position = ++tried
    } else return false
  }
  while (wanted[at] === '*') at++
  return at === wanted.length
}
