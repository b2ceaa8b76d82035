import { connect as messages } from '../messages.ts'

/** The URL of the service, and secrets or their placeholders. */
export type Secrets = { url: string; token: string; key: string }

type Step = { title: string; text: string }

export type Recipe = {
  value: keyof typeof messages.tools
  name: string
  use: string
  steps(secrets: Secrets): Step[]
}

const { steps: titles } = messages

const recipe = (value: Recipe['value'], steps: Recipe['steps']): Recipe => ({
  value,
  ...messages.tools[value],
  steps,
})

/** The URL of a list, with the key as a password for the fleet list. */
const fleetUrl = ({ url, key }: Secrets) =>
  `${url.replace('://', `://fleet:${key}@`)}/api/v1/abuse/fleet/export`
const sharedUrl = ({ url }: Secrets) => `${url}/api/v1/abuse/export`

/** Each program that reports or blocks, with what to copy where. docs/integrations.md has them too. */
export const RECIPES: Recipe[] = [
  recipe('curl', ({ url, token }) => [
    {
      title: titles.run,
      text: `curl -fsS "${url}/api/v1/abuse/report" -H "X-Report-Token: ${token}" \\
  -H "Content-Type: application/json" -d '{"ip": "ADDRESS", "service": "ssh"}'`,
    },
  ]),
  recipe('fail2ban', ({ url, token, key }) => [
    {
      title: titles.run,
      text: `curl -fsS "${url}/api/v1/abuse/fail2ban-install?token=${token}&block=1" | sudo PORTREEVE_KEY=${key} sh -s -- --yes`,
    },
  ]),
  recipe('crowdsec-agent', ({ url, token }) => [
    {
      title: '/etc/crowdsec/local_api_credentials.yaml',
      text: `url: ${url}/\nlogin: web-1\npassword: ${token}`,
    },
    { title: titles.start, text: 'crowdsec -no-api' },
  ]),
  recipe('crowdsec-engine', ({ url, token }) => [
    {
      title: '/etc/crowdsec/notifications/portreeve.yaml',
      text: `type: http
name: portreeve
log_level: info
format: '{{.|toJson}}'
group_wait: 10s
group_threshold: 100
url: ${url}/api/v1/abuse/report/crowdsec
method: POST
headers:
  Content-Type: application/json
  X-Report-Token: ${token}`,
    },
    { title: '/etc/crowdsec/profiles.yaml', text: 'notifications: [portreeve]' },
  ]),
  recipe('crowdsec-bouncer', ({ url, key }) => [
    {
      title: '/etc/crowdsec/bouncers/crowdsec-firewall-bouncer.yaml',
      text: `api_url: ${url}/\napi_key: ${key}\nupdate_frequency: 10s`,
    },
  ]),
  recipe('abuseipdb', ({ url, token }) => [
    { title: titles.url, text: `${url}/api/v2/` },
    { title: titles.apiKey, text: token },
    {
      title: titles.test,
      text: `curl -fsSG "${url}/api/v2/check" -H "Key: ${token}" -d "ipAddress=8.8.8.8"`,
    },
  ]),
  recipe('csf', (secrets) => [
    { title: '/etc/portreeve-client/token', text: secrets.token },
    { title: '/etc/csf/csf.conf', text: 'BLOCK_REPORT = "/usr/local/csf/bin/portreeve-csf"' },
    { title: '/etc/csf/csf.blocklists', text: `PORTREEVE|1800|0|${sharedUrl(secrets)}` },
  ]),
  recipe('wazuh', ({ url, token }) => [
    {
      title: '/var/ossec/etc/ossec.conf',
      text: `<integration>
  <name>custom-portreeve</name>
  <hook_url>${url}</hook_url>
  <api_key>${token}</api_key>
  <group>authentication_failures</group>
  <alert_format>json</alert_format>
</integration>`,
    },
  ]),
  recipe('cowrie', ({ url, token }) => [
    {
      title: 'etc/cowrie.cfg',
      text: `[output_portreeve]\nenabled = true\nurl = ${url}\ntoken = ${token}`,
    },
  ]),
  recipe('alias', (secrets) => [
    { title: titles.sharedList, text: sharedUrl(secrets) },
    { title: titles.fleetList, text: fleetUrl(secrets) },
  ]),
  recipe('mikrotik', (secrets) => [
    { title: titles.sharedList, text: importCommand(`${sharedUrl(secrets)}?format=mikrotik`) },
    { title: titles.fleetList, text: importCommand(`${fleetUrl(secrets)}?format=mikrotik`) },
  ]),
  recipe('haproxy', (secrets) => [
    {
      title: titles.run,
      text: `curl -fsS "${fleetUrl(secrets)}?format=haproxy" -o /etc/haproxy/portreeve.map`,
    },
    {
      title: titles.frontend,
      text: 'http-request deny if { src,map_ip(/etc/haproxy/portreeve.map) -m found }',
    },
  ]),
  recipe('cloudflare', (secrets) => [
    {
      title: titles.run,
      text: `curl -fsS "${sharedUrl(secrets)}?format=cloudflare" | curl -fsS -X PUT --data @- \\
  -H "Authorization: Bearer $CLOUDFLARE_TOKEN" -H "Content-Type: application/json" \\
  "https://api.cloudflare.com/client/v4/accounts/$ACCOUNT/rules/lists/$LIST/items"`,
    },
  ]),
  recipe('misp', ({ url, key }) => [
    { title: titles.sharedList, text: `${url}/api/v1/abuse/misp` },
    { title: titles.fleetList, text: `${url}/api/v1/abuse/fleet/misp` },
    { title: titles.headers, text: `X-Api-Key: ${key}` },
  ]),
  recipe('taxii', ({ url, key }) => [
    { title: titles.url, text: `${url}/taxii2/` },
    { title: titles.password, text: key },
  ]),
]

const importCommand = (url: string) =>
  `/tool fetch url="${url}" dst-path=portreeve.rsc; /import portreeve.rsc`
