import { serviceUrl } from '../base-path.ts'
import { formats } from './messages.ts'

/**
 * Makes a server's fail2ban report to this service. Without a token, its reports count but are not
 * attributed.
 */
export function installCommand(options: InstallOptions): string {
  return `curl -fsS "${installerUrl(options)}" | sudo ${withKey(options)}sh -s -- --yes`
}

/** The key is never part of a URL. */
const withKey = ({ key }: InstallOptions) => (key ? `PORTREEVE_KEY=${key} ` : '')

/** The same in steps, to review the script before root runs it. */
export function reviewedInstallCommands(options: InstallOptions): string {
  return [
    `curl -fsS "${installerUrl(options)}" -o install.sh`,
    'less install.sh',
    'sudo sh install.sh --dry-run',
    `sudo ${withKey(options)}sh install.sh`,
  ].join('\n')
}

/** `key`: listed addresses, and what the fleet reports, are also blocked. */
export type InstallOptions = { token?: string; key?: string | undefined }

function installerUrl({ token, key }: InstallOptions): string {
  const query = new URLSearchParams({
    ...(token && { token }),
    ...(key && { block: '1' }),
  }).toString()
  return `${serviceUrl()}/api/v1/abuse/fail2ban-install${query && `?${query}`}`
}

/** A placeholder: documentation addresses are rejected, and every other address has an owner. */
const ATTACKER = 'THE_ADDRESS'

/** Reports one attack, without fail2ban. */
export function reportCommand(token: string): string {
  return `curl -fsS "${serviceUrl()}/api/v1/abuse/report" \\
  -H "X-Report-Token: ${token}" -H "Content-Type: application/json" \\
  -d '{"ip": "${ATTACKER}", "service": "ssh", "count": 5}'`
}

export type ExportFormat = {
  value: keyof typeof formats
  name: string
  use: string
  /** Downloads the list and installs it. */
  load: (url: string) => string
  /** Commands that run a single time. */
  setup?: { text: string; commands: string }
}

/** Each format of the list, with a command that can be run. */
export const EXPORT_FORMATS: ExportFormat[] = [
  { value: 'plain', ...formats.plain, load: (url) => `curl -fsS --compressed "${url}"` },
  {
    value: 'nftables',
    ...formats.nftables,
    load: (url) => `curl -fsS --compressed "${url}" | sudo nft -f -`,
    setup: {
      text: formats.nftables.setup,
      commands: `sudo nft 'add chain inet portreeve input { type filter hook input priority -10 ; }'
sudo nft 'add rule inet portreeve input ip saddr @listed4 drop'
sudo nft 'add rule inet portreeve input ip6 saddr @listed6 drop'`,
    },
  },
  {
    value: 'ipset',
    ...formats.ipset,
    load: (url) => `curl -fsS --compressed "${url}" | sudo ipset restore`,
    setup: {
      text: formats.ipset.setup,
      commands: `sudo iptables -I INPUT -m set --match-set portreeve4 src -j DROP
sudo ip6tables -I INPUT -m set --match-set portreeve6 src -j DROP`,
    },
  },
  {
    value: 'nginx',
    ...formats.nginx,
    load: (url) => `sudo curl -fsS --compressed "${url}" -o /etc/nginx/portreeve.conf \\
  && sudo nginx -t && sudo nginx -s reload`,
    setup: {
      text: formats.nginx.setup,
      commands: `include /etc/nginx/portreeve.conf;
if ($portreeve_listed) { return 403; }`,
    },
  },
  {
    value: 'rbldnsd',
    ...formats.rbldnsd,
    load: (url) => `curl -fsS --compressed "${url}" -o portreeve.zone`,
    setup: {
      text: formats.rbldnsd.setup,
      commands: 'rbldnsd -b 127.0.0.1/5353 listed.example.com:combined:portreeve.zone',
    },
  },
  { value: 'json', ...formats.json, load: (url) => `curl -fsS --compressed "${url}"` },
  { value: 'csv', ...formats.csv, load: (url) => `curl -fsS --compressed "${url}" -o listed.csv` },
]

/** @param service an id, or empty for all services */
export function listUrl(format: string, service: string): string {
  const query = new URLSearchParams({
    ...(format !== 'plain' && { format }),
    ...(service && { service }),
  }).toString()
  return `${serviceUrl()}/api/v1/abuse/export${query && `?${query}`}`
}
