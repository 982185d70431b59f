/** The current time, for texts such as "4 s ago". It is updated once a second. */
class Now {
  ms = $state(Date.now());

  constructor() {
    setInterval(() => (this.ms = Date.now()), 1000);
  }
}

export const now = new Now();
