import { counted, numberText } from './text/format.ts'

/** Texts of the shared components. */
export const messages = {
  brand: 'Portreeve',
  loadingScreen: 'Loading…',
  toast: { close: 'Close' },
  gone: 'It was deleted, or it belongs to another workspace.',
  change: {
    short: (sign: string, percent: number) => (percent === 0 ? sign : `${sign} ${percent}%`),
    text: (percent: number, period: string) =>
      percent === 0
        ? `as many as in ${period}`
        : `${Math.abs(percent)}% ${percent > 0 ? 'more' : 'less'} than in ${period}`,
  },
  confirm: { cancel: 'Cancel' },
  leave: {
    title: 'Leave without saving?',
    text: 'What you typed here is lost.',
    stay: 'Stay',
    leave: 'Leave',
  },
  copy: { copy: 'Copy', copied: 'Copied', announcement: 'Copied.' },
  pagination: {
    label: 'Pages',
    previous: 'Previous',
    next: 'Next',
    position: (page: number, totalPages: number) => `Page ${page} of ${totalPages}`,
    behindLast: (page: number) => `There is no page ${page}.`,
    last: 'Show the last page',
  },
  table: {
    actions: 'Actions for the selection',
    selected: (rows: number) => `${numberText(rows)} selected`,
    /** Completes the label of an action for screen readers. */
    selectedRows: (rows: number) => `for ${counted(rows, 'selected row')}`,
    select: (name: string) => `Select ${name}`,
    selectShown: 'Select all shown',
    selectAll: (rows: number) => `Select all ${numberText(rows)}`,
    clear: 'Clear selection',
    appliesToNone: 'Not available for the selected rows.',
    progress: (label: string, done: number, all: number) =>
      `${label}: ${numberText(done)} of ${numberText(all)} done…`,
    failed: (failed: number, all: number) =>
      `${numberText(failed)} of ${numberText(all)} could not be changed:`,
    reason: (name: string, reason: string) => `${name}: ${reason}`,
    moreFailures: (count: number) => `and ${numberText(count)} more`,
    sortBy: 'Sort by',
    defaultOrder: 'Default order',
    ascending: (title: string) => `${title}, ascending`,
    descending: (title: string) => `${title}, descending`,
    exportCsv: 'Export CSV',
    exportedSome: (rows: number, total: number) =>
      `The file has the first ${numberText(rows)} of ${numberText(total)} rows. Filter the list to export the others.`,
    noMatch: 'No matches',
    more: 'Show more',
    keys: {
      title: 'In tables',
      select: 'Select the row with the focus',
      actions: 'Go to the actions for the selection',
      clear: 'Clear the selection',
    },
  },
  connection: { live: 'Live', connecting: 'Connecting', broken: 'Reconnecting' },
  theme: { label: 'Theme', light: 'Light', dark: 'Dark', auto: 'System' },
  form: { showPassword: 'Show password' },
  steps: { change: '(change)' },
  dayStrip: { today: 'today' },
  chart: {
    /** Read by screen readers in place of “application”. */
    role: 'interactive chart',
    hint: 'Use the arrow keys to move between points, Enter to open one, Escape to close.',
    table: 'Show as table',
    value: (name: string, value: string) => `${name} ${value}`,
    dayTotal: (day: string, total: number) => `${day} · ${numberText(total)}`,
    part: (count: number, total: number) =>
      `${numberText(count)} (${Math.round((count / total) * 1_000) / 10}%)`,
  },
  time: {
    justNow: 'just now',
    minutesAgo: (minutes: number) => `${minutes} min ago`,
    now: 'now',
    inMinutes: (minutes: number) => `in ${minutes} min`,
    inHours: (hours: number, minutes: number) =>
      minutes === 0 ? `in ${hours} h` : `in ${hours} h ${minutes} min`,
    inDays: (days: number) => `in ${days} days`,
    withinLastHour: 'within the last hour',
    hourAgo: '1 hour ago',
    hoursAgo: (hours: number) => `${hours} hours ago`,
    inHourFrom: (time: string) => `In the hour from ${time}`,
  },
  percentage: (percent: number) => `${percent > 0 && percent < 1 ? '< 1' : Math.round(percent)}%`,
} as const
