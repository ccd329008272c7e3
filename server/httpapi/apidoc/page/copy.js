// A copy button for each code block. The page is complete without it.
for (const block of document.querySelectorAll("figure")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.querySelector("figcaption").append(button);
}
