import {
  absorb,
  assess,
  KNOWN_ORIGIN,
  type Assessment,
  type Circumstances,
  type Evidence,
  type Sighting,
  type State,
  type Traits,
} from '../../src/abuse/scoring/score.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Start time of the tests’ scenarios. */
export const START = Date.parse('2026-11-21T12:00:00Z')

const TRAITS: Record<string, Traits> = {
  ssh: { severity: 6, category: 'bruteforce', spoofable: false },
  imap: { severity: 6, category: 'bruteforce', spoofable: false },
  exploit: { severity: 10, category: 'exploit', spoofable: false },
  botnet: { severity: 10, category: 'malware', spoofable: false },
  scan: { severity: 3, category: 'scan', spoofable: true },
  flood: { severity: 3, category: 'ddos', spoofable: true },
}
export const SERVICES = Object.keys(TRAITS)
export const traitsOf = (service: string): Traits => TRAITS[service] as Traits

export const USUAL: Circumstances = {
  shared: false,
  probation: false,
  bootstrap: true,
  wellKnown: false,
  confirmed: false,
}

/** Network `n` of autonomous system `system` sees something. */
export function sighting(system: number, n: number, more: Partial<Sighting> = {}): Sighting {
  const who = { network: `net-${system}-${n}`, origin: `${KNOWN_ORIGIN}${system}`, port: null }
  return { ...who, service: 'ssh', standing: 'new', count: 20, ...more }
}

/** Replays the reports about one address. @returns the resulting assessments */
export function openCase(circumstances: Circumstances = USUAL) {
  let evidence: Evidence[] = []
  let state: State = 'none'
  function look(now: number): Assessment {
    const seen = assess(state, evidence, circumstances, now, traitsOf)
    state = seen.state
    return seen
  }
  return {
    look,
    report(now: number, ...sightings: Sighting[]): Assessment {
      const { shared } = circumstances
      for (const one of sightings)
        evidence = absorb(evidence, one, { now, counted: true, shared, traitsOf })
      return look(now)
    },
    evidence: () => evidence,
  }
}
