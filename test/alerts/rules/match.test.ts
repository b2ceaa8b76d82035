import { describe, expect, it } from 'vitest'
import { findRule, matchesPattern, matchesRule } from '../../../src/alerts/rules/match.ts'
import type { RuleConditions, RuleSubject } from '../../../src/alerts/rules/rule.ts'

const ANY: RuleConditions = { kinds: null, objects: null, labels: null, minSeverity: null }
const LISTED: RuleSubject = {
  kind: 'blacklist.listed',
  severity: 'error',
  names: ['mail.example.com', '192.0.2.10'],
  labels: ['production', 'mail'],
}

describe('the conditions of a rule', () => {
  it.each<[string, Partial<RuleConditions>, boolean]>([
    ['none', {}, true],
    ['the first word of the kind', { kinds: ['blacklist'] }, true],
    ['the whole kind', { kinds: ['dmarc', 'blacklist.listed'] }, true],
    ['another kind of the same word', { kinds: ['blacklist.cleared'] }, false],
    ['the beginning of a word', { kinds: ['black'] }, false],
    ['a name', { objects: ['mail.example.com'] }, true],
    ['a name in other case', { objects: ['MAIL.example.COM'] }, true],
    ['the second name', { objects: ['192.0.2.*'] }, true],
    ['a pattern', { objects: ['*.example.com'] }, true],
    ['a part of a name', { objects: ['example.com'] }, false],
    ['one of the labels', { labels: ['staging', 'mail'] }, true],
    ['other labels', { labels: ['staging'] }, false],
    ['a less urgent severity', { minSeverity: 'warning' }, true],
    ['its severity', { minSeverity: 'error' }, true],
    ['a more urgent severity', { minSeverity: 'critical' }, false],
    ['all of them', { kinds: ['blacklist'], labels: ['mail'], minSeverity: 'error' }, true],
    ['all but one', { kinds: ['blacklist'], labels: ['web'], minSeverity: 'error' }, false],
  ])('%s', (_name, conditions, expected) => {
    expect(matchesRule({ ...ANY, ...conditions }, LISTED)).toBe(expected)
  })

  it('are not met by an alert about nothing where they name objects or labels', () => {
    const subject = { ...LISTED, names: [], labels: [] }
    expect(matchesRule({ ...ANY, objects: ['*'] }, subject)).toBe(false)
    expect(matchesRule({ ...ANY, labels: ['mail'] }, subject)).toBe(false)
    expect(matchesRule(ANY, subject)).toBe(true)
  })
})

describe('a pattern', () => {
  it.each<[string, string, boolean]>([
    ['*', '', true],
    ['*', 'anything', true],
    ['a*c', 'abbbc', true],
    ['a*c', 'abbbcd', false],
    ['*b*b*', 'abcb', true],
    ['*.example.*', 'mail.example.com', true],
    ['*.example.com', 'example.com', false],
    ['a.c', 'abc', false],
    ['**a', 'a', true],
    ['', '', true],
    ['', 'a', false],
  ])('“%s” and “%s”', (pattern, name, expected) => {
    expect(matchesPattern(pattern, name)).toBe(expected)
  })

  it('takes little time whatever it is', () => {
    const start = performance.now()
    for (let count = 0; count < 100; count++)
      expect(matchesPattern(`${'*a'.repeat(129)}b`, 'a'.repeat(260))).toBe(false)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})

describe('the rule of an alert', () => {
  const rule = (name: string, more: object = {}) => ({
    ...ANY,
    name,
    enabled: true,
    channels: [`channel of ${name}`],
    ...more,
  })
  const usable = new Set(['channel of first', 'channel of second'])
  const nameOf = (rules: ReturnType<typeof rule>[]) => findRule(rules, LISTED, usable)?.name

  it.each<[string, object, string]>([
    ['is the first that matches', {}, 'first'],
    ['skips one that does not match', { labels: ['staging'] }, 'second'],
    ['skips one that is turned off', { enabled: false }, 'second'],
    ['skips one whose channels are gone', { channels: ['deleted'] }, 'second'],
    [
      'accepts one with a channel that is left',
      { channels: ['deleted', 'channel of first'] },
      'first',
    ],
  ])('%s', (_name, more, expected) => {
    expect(nameOf([rule('first', more), rule('second')])).toBe(expected)
  })

  it('may be none', () => {
    expect(nameOf([rule('first', { kinds: ['dmarc'] })])).toBe(undefined)
    expect(nameOf([])).toBe(undefined)
  })
})
