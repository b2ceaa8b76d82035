/** Sentences about the hosts in MX records, which every check shares. */
export const mxProblems = {
  isAddress: (exchange: string) =>
    `The MX ${exchange} is an IP address, which many senders ignore. Use a host name.`,
  isAlias: (exchange: string, target: string) =>
    `The MX ${exchange} is an alias for ${target}, which RFC 2181 forbids. Use ${target} in the MX record.`,
  hasNoAddress: (exchange: string) =>
    `The MX ${exchange} has no address, so mail cannot be delivered to it.`,
  isNotAlone: 'A null MX (“.”) must be the only MX record (RFC 7505). Remove it or the others.',
} as const
