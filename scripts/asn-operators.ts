/**
 * Which autonomous systems belong to one operator, by what their names have in common. One customer
 * account often gets machines in several systems of a provider, and must still count as one
 * witness. Grouping too much is safe: it only makes networks count as less independent than they
 * are.
 */
export function operatorsOf(names: Map<number, string>): Map<number, number> {
  const byKey = Map.groupBy(
    [...names].toSorted(([a], [b]) => a - b),
    ([number, name]) => keyOf(name) || String(number),
  )
  const groups = [...byKey.values()].filter((group) => group.length > 1)
  return new Map(
    groups.flatMap((group) => group.map(([number]) => [number, group[0]?.[0] ?? number] as const)),
  )
}

/** Providers whose systems have names of several companies; any of the words names the first. */
const PROVIDERS = [
  ['akamai', 'linode'],
  ['alibaba', 'aliyun'],
  ['amazon', 'aws'],
  ['aruba'],
  ['bytedance', 'byteplus'],
  ['clouvider'],
  ['cloudflare'],
  ['cogent'],
  ['contabo'],
  ['datacamp', 'cdn77'],
  ['digitalocean'],
  ['fastly'],
  ['gcore', 'g-core'],
  ['godaddy'],
  ['google'],
  ['hetzner'],
  ['hostinger'],
  ['hostpapa', 'colocrossing', 'racknerd'],
  ['huawei'],
  ['ibm', 'softlayer'],
  ['ionos', '1&1', 'strato', 'fasthosts'],
  ['kamatera'],
  ['leaseweb'],
  ['m247'],
  ['microsoft', 'azure'],
  ['netcup', 'anexia'],
  ['oracle'],
  ['ovh'],
  ['rackspace'],
  ['scaleway', 'online sas', 'dedibox'],
  ['tencent'],
  ['upcloud'],
  ['vultr', 'choopa', 'constant company'],
  ['worldstream'],
  ['zenlayer'],
]

/** Legal forms, and words that only name a location. */
const FILLERS = new Set(
  (
    'ab ag as asa bv co company corp corporation gmbh inc incorporated jsc kft kg kk limited llc llp lp ltd ltda nv ' +
    'oao oo ooo oy oyj pjsc plc private pt pte pty pvt sa sapi sarl sas se spa spol srl sro the zao ' +
    'africa america americas asia australia austria brasil brazil canada china deutschland emea europe france ' +
    'germany global group holding holdings hong kong india international ireland italia italy japan latam mexico ' +
    'netherlands poland polska romania singapore spain sweden uk united kingdom us usa'
  ).split(' '),
)

/** The common key of an operator’s names; empty when a name is not distinctive. */
export function keyOf(name: string): string {
  const plain = name.toLowerCase().normalize('NFKD')
  const provider = PROVIDERS.find((words) => words.some((word) => hasWord(plain, word)))
  if (provider) return provider[0] ?? ''
  // “B.V.” and “S.A.S.” are one word each.
  const words = plain.replaceAll('.', '').split(/[^\p{L}\p{N}&]+/u)
  return words.filter((word) => word !== '' && !FILLERS.has(word)).join(' ')
}

function hasWord(text: string, word: string): boolean {
  const at = text.indexOf(word)
  const isLetter = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character)
  return (
    at >= 0 && !isLetter(text[at - 1]) && (word.length > 4 || !isLetter(text[at + word.length]))
  )
}
