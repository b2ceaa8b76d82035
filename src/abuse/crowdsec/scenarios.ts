import { findService, type Service } from '../services.ts'

/**
 * Words in names of scenarios, and the service they mean. The first that occurs counts, so that
 * `http-bf-wordpress_bf` is WordPress and not HTTP.
 */
const BY_WORD: [RegExp, string][] = [
  [/wordpress|wp[-_]/, 'wordpress'],
  [/log4j/, 'log4shell'],
  [/path[-_]traversal|grafana[-_]cve|2021-4(1773|2013)/, 'path-traversal'],
  [/sqli/, 'sqli'],
  [/xss/, 'xss'],
  [/modsecurity|naxsi|vpatch|appsec/, 'modsecurity'],
  [/open[-_]proxy/, 'open-proxy-probe'],
  [/backdoors?|webshell/, 'webshell'],
  [/thinkphp|php/, 'php-exploit'],
  [/sensitive[-_]files/, 'env-disclosure'],
  [/bad[-_]user[-_]agent/, 'bad-bot'],
  [/req[-_]limit|dos[-_]|[-_]dos|flood/, 'http-flood'],
  [/crawl|probing|w00tw00t|admin[-_]interface/, 'http-scan'],
  [/generic[-_]bf|basic[-_]?auth/, 'http-auth'],
  [/endlessh|sshesame|honeypot|cowrie/, 'honeypot'],
  [/exchange/, 'exchange-owa'],
  [/vmware|vcenter/, 'vmware'],
  [/opnsense|litespeed|kasm|thehive|odoo|authelia|emby|gotify|ombi|meshcentral/, 'http-auth'],
  [/spring4shell|jira|confluence|cve/i, 'http-scan'],
  [/scan|port/, 'portscan'],
  [/dovecot[-_]spam|imap|dovecot/, 'imap'],
  [/spam/, 'email-spam'],
  [/postfix|exim/, 'smtp-auth'],
  [/pgsql/, 'postgresql'],
  [/mariadb/, 'mysql'],
  [/windows/, 'rdp'],
  [/vsftpd/, 'ftp'],
  [/vaultwarden/, 'bitwarden'],
  [/suricata/, 'vuln-scan'],
]

/**
 * The service that a scenario of CrowdSec is about: `crowdsecurity/ssh-bf` is ssh. Scenarios that
 * nothing names count as `other`.
 */
export function serviceOfScenario(scenario: string): Service {
  const name = scenario.slice(scenario.indexOf('/') + 1).toLowerCase()
  const [, id] = BY_WORD.find(([word]) => word.test(name)) ?? []
  const words = name.split(/[-_.]/)
  const found =
    (id === undefined ? undefined : findService(id)) ??
    words.map((word) => findService(word)).find((service) => service !== undefined)
  return found ?? (findService('other') as Service)
}
