/** Joins a server's fail2ban to this service. Without a token it counts all the same, without statistics. */
export function joinCommand({ token, blocks }: Joining): string {
  return `curl -fsS "${installerUrl({ token, blocks })}" | sudo sh -s -- --yes`
}

/** The same in steps, for those who read first what root will run. */
export function carefulJoin(joining: Joining): string {
  return [
    `curl -fsS "${installerUrl(joining)}" -o install.sh`,
    'less install.sh',
    'sudo sh install.sh --dry-run',
    'sudo sh install.sh',
  ].join('\n')
}

/** @param blocks whether listed addresses are kept out too */
export type Joining = { token?: string; blocks: boolean }

function installerUrl({ token, blocks }: Joining): string {
  const query = new URLSearchParams({ ...(token && { token }), ...(blocks && { block: '1' }) }).toString()
  return `${window.location.origin}/api/v1/abuse/fail2ban-install${query && `?${query}`}`
}

/** To be replaced: an address reserved for examples is refused, and any other belongs to somebody. */
const ATTACKER = 'THE_ADDRESS'

/** Reports one attack, without fail2ban. */
export function reportCommand(token: string): string {
  return `curl -fsS "${window.location.origin}/api/v1/abuse/report" \\
  -H "X-Report-Token: ${token}" -H "Content-Type: application/json" \\
  -d '{"ip": "${ATTACKER}", "service": "ssh", "count": 5}'`
}

export type Taking = {
  value: string
  name: string
  /** What it is, and who takes it. */
  words: string
  /** Fetches the list and puts it where it works. */
  load: (url: string) => string
  /** What is to be done a single time beside it. */
  once?: { words: string; text: string }
}

/** Each format of the list, with a command that can be run. */
export const TAKINGS: Taking[] = [
  {
    value: 'plain',
    name: 'Plain',
    words: 'One address a line, in order. pfSense, OPNsense, FortiGate and others take this address as it is.',
    load: (url) => `curl -fsS --compressed "${url}"`,
  },
  {
    value: 'nftables',
    name: 'nftables',
    words: 'Fills two sets at once. Entries leave after 26 hours when nothing new comes, so run it every hour.',
    load: (url) => `curl -fsS --compressed "${url}" | sudo nft -f -`,
    once: {
      words: 'Once, so that what is in the sets is dropped:',
      text: `sudo nft 'add chain inet portreeve input { type filter hook input priority -10 ; }'
sudo nft 'add rule inet portreeve input ip saddr @listed4 drop'
sudo nft 'add rule inet portreeve input ip6 saddr @listed6 drop'`,
    },
  },
  {
    value: 'ipset',
    name: 'ipset',
    words: 'For iptables: swaps two sets at once. Entries leave after 26 hours when nothing new comes.',
    load: (url) => `curl -fsS --compressed "${url}" | sudo ipset restore`,
    once: {
      words: 'Once, so that what is in the sets is dropped:',
      text: `sudo iptables -I INPUT -m set --match-set portreeve4 src -j DROP
sudo ip6tables -I INPUT -m set --match-set portreeve6 src -j DROP`,
    },
  },
  {
    value: 'nginx',
    name: 'nginx',
    words: 'Sets $portreeve_listed for each request.',
    load: (url) => `sudo curl -fsS --compressed "${url}" -o /etc/nginx/portreeve.conf \\
  && sudo nginx -t && sudo nginx -s reload`,
    once: {
      words: 'Once, the first line in http {}, the second in a server {}:',
      text: `include /etc/nginx/portreeve.conf;
if ($portreeve_listed) { return 403; }`,
    },
  },
  {
    value: 'rbldnsd',
    name: 'DNS',
    words: 'A DNS blocklist of both families for rbldnsd, which mail servers ask.',
    load: (url) => `curl -fsS --compressed "${url}" -o portreeve.zone`,
    once: {
      words: 'Once; it takes a changed file by itself:',
      text: 'rbldnsd -b 127.0.0.1/5353 listed.example.com:combined:portreeve.zone',
    },
  },
  {
    value: 'json',
    name: 'JSON',
    words: 'With score, confidence, services and last report of each address.',
    load: (url) => `curl -fsS --compressed "${url}"`,
  },
  {
    value: 'csv',
    name: 'CSV',
    words: 'The same and more, for spreadsheets.',
    load: (url) => `curl -fsS --compressed "${url}" -o listed.csv`,
  },
]

/** @param service an id, or empty for all */
export function listUrl(format: string, service: string): string {
  const query = new URLSearchParams({ ...(format !== 'plain' && { format }), ...(service && { service }) }).toString()
  return `${window.location.origin}/api/v1/abuse/export${query && `?${query}`}`
}
