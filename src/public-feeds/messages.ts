// Texts about public feeds.
import type { PublicFeed } from './feed-catalogue.ts'
import type { FeedProblem } from './public-feeds.sql.ts'

/** What is wrong with the latest version of a feed, by the sizes of both versions. */
export function describeSizes({ before, after }: { before: number; after: number }): string {
  const [from, to] = [before.toLocaleString('en'), after.toLocaleString('en')]
  return `The latest version has ${to} networks instead of ${from}.`
}

export const EMPTY_VERSION = 'The latest version has no networks.'
export const OUTDATED = 'The provider has not published a new version for too long.'

const TITLES: Record<FeedProblem, string> = {
  shrunk: 'shrank to less than half',
  grown: 'grew fivefold',
  malformed: 'is malformed',
  unreachable: 'cannot be downloaded',
  outdated: 'is no longer updated',
}

/** The alert about a version that is not used. */
export function feedProblemAlert(feed: PublicFeed, problem: FeedProblem, detail: string) {
  return {
    title: `The feed ${feed.name} ${TITLES[problem]}`,
    text: `${detail} The last good version stays in use until it is ${feed.maxAgeHours} hours old.`,
    nextStep:
      problem === 'shrunk' || problem === 'grown'
        ? 'An administrator can accept the new version on the page of public feeds.'
        : 'Check the website of the provider.',
  }
}

export function feedResolvedAlert(feed: PublicFeed) {
  return {
    title: `Resolved: the feed ${feed.name} is up to date`,
    text: 'A new version is in use.',
    nextStep: '',
  }
}
