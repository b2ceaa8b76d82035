import { findService, type Service } from '../../abuse/services.ts'

/**
 * Phrases in names of scenarios, and the service they mean. The first that occurs counts, so that
 * `http-bf-wordpress_bf` is WordPress and not HTTP.
 */
const PHRASES = compile([
  ['wordpress|wp', 'wordpress'],
  ['log4j\\d*', 'log4shell'],
  ['path-traversal|grafana-cve|2021-4(?:1773|2013)', 'path-traversal'],
  ['sqli', 'sqli'],
  ['xss', 'xss'],
  ['modsecurity|naxsi|vpatch|appsec', 'modsecurity'],
  ['open-proxy', 'open-proxy-probe'],
  ['backdoors?|webshells?', 'webshell'],
  ['thinkphp|php', 'php-exploit'],
  ['sensitive-files', 'env-disclosure'],
  ['bad-user-agent', 'bad-bot'],
  ['req-limit|http-d?dos|dos-http|flood', 'http-flood'],
  ['crawl|w00tw00t|http-probing|admin-interface', 'http-scan'],
  ['generic-bf|basic-?auth', 'http-auth'],
  ['endlessh|sshesame|honeypot|cowrie', 'honeypot'],
  ['exchange', 'exchange-owa'],
  ['opnsense|litespeed|kasm|thehive|odoo|authelia|emby|gotify|ombi|meshcentral', 'http-auth'],
  ['spring4shell|jira|confluence', 'http-scan'],
  ['dovecot-spam', 'imap'],
  ['spam', 'email-spam'],
  ['postfix|exim', 'smtp-auth'],
  ['iptables-scan|port-?scan', 'portscan'],
  ['windows', 'rdp'],
  ['suricata', 'vuln-scan'],
])

/** Where no word of the name is a service. */
const GENERAL_PHRASES = compile([
  ['cve|probing', 'http-scan'],
  ['scan|ports?', 'portscan'],
  ['d?dos', 'http-flood'],
])

/** Services that other words of a name describe more exactly. */
const VAGUE_SERVICES = new Set(['http', 'bad-bot'])

function compile(phrases: [pattern: string, id: string][]): [RegExp, string][] {
  return phrases.map(([pattern, id]) => [new RegExp(`-(?:${pattern})-`), id])
}

/**
 * The service that a scenario of CrowdSec is about: `crowdsecurity/ssh-bf` is ssh. Only whole words
 * of the name count. Scenarios that nothing names count as `other`.
 */
export function serviceOfScenario(scenario: string): Service {
  const name = scenario.slice(scenario.indexOf('/') + 1).toLowerCase()
  const words = name.split(/[-_.\s]+/).filter((word) => word !== '')
  const whole = `-${words.join('-')}-`
  const phraseIn = (phrases: [RegExp, string][]) => {
    const [, id = ''] = phrases.find(([pattern]) => pattern.test(whole)) ?? []
    return findService(id)
  }
  const named = words.map(findService).filter((service) => service !== undefined)
  return (
    phraseIn(PHRASES) ??
    named.find(({ id }) => !VAGUE_SERVICES.has(id)) ??
    phraseIn(GENERAL_PHRASES) ??
    named[0] ??
    (findService('other') as Service)
  )
}
